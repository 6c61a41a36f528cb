#include "kernels/cpu/matmul.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>

#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu {
namespace {

CBLAS_TRANSPOSE Flag(Transpose transpose) {
  return transpose == Transpose::kYes ? CblasTrans : CblasNoTrans;
}

template <class Real>
void Multiply(const MatMulShape& shape, const MatMulOperands<Real>& operands) {
  const auto m = static_cast<blasint>(shape.m);
  const auto n = static_cast<blasint>(shape.n);
  const auto k = static_cast<blasint>(shape.k);
  const blasint row_a = shape.transpose_a == Transpose::kYes ? m : k;
  const blasint row_b = shape.transpose_b == Transpose::kYes ? k : n;
  const auto gemm = [] {
    if constexpr (std::is_same_v<Real, float>) {
      return cblas_sgemm;
    } else {
      return cblas_dgemm;
    }
  }();
  gemm(CblasRowMajor, Flag(shape.transpose_a), Flag(shape.transpose_b), m, n, k, Real(1),
       operands.a, row_a, operands.b, row_b, Real(0), operands.c, n);
}

template <class Real>
bool MultiplyAll(const MatMulShape& shape, std::span<const MatMulOperands<Real>> batch) {
  if (shape.m == 0 || shape.n == 0) return true;
  if (std::max({shape.m, shape.n, shape.k}) > std::numeric_limits<blasint>::max()) return false;
  for (const MatMulOperands<Real>& operands : batch) {
    if (shape.k == 0) {
      std::fill_n(operands.c, shape.m * shape.n, Real(0));
    } else {
      Multiply(shape, operands);
    }
  }
  return true;
}

}  // namespace

bool MatMul(const MatMulShape& shape, std::span<const MatMulOperands<float>> batch) {
  return MultiplyAll(shape, batch);
}
bool MatMul(const MatMulShape& shape, std::span<const MatMulOperands<double>> batch) {
  return MultiplyAll(shape, batch);
}

const char* BlasCoreToAskFor() {
  constexpr std::string_view kUnknownProcessor = "Prescott";
  if (openblas_get_corename() != kUnknownProcessor) return nullptr;
  const std::string_view level = BestLevel().name;
  if (level == "x86-64-v4") return "SkylakeX";
  return level == "x86-64-v3" ? "Haswell" : nullptr;
}

}  // namespace gpucall::cpu
