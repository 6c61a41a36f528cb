#include "kernels/cpu/matmul.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/matmul_integer.h"
#include "kernels/cpu/product_rows.h"

namespace gpucall::cpu {
namespace {

constexpr int64_t kBlockBytes = 1 << 20;  // of results that are finished while in the cache
constexpr int64_t kMinBlockRows = 64;

bool IsInteger(ElementType type) { return type < ElementType::kFloat16; }
bool IsHalf(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBfloat16;
}

// What sums are of.
ElementType SumType(ElementType type) { return IsHalf(type) ? ElementType::kFloat32 : type; }

// Rows of the result that are multiplied and finished together: all, where nothing is to be done.
int64_t BlockRows(const Product& product) {
  const MatMulShape& shape = product.shape;
  const auto row_bytes = static_cast<int64_t>(SizeOf(SumType(product.out_type))) * shape.n;
  return std::min(shape.m, std::max(kMinBlockRows, kBlockBytes / std::max<int64_t>(row_bytes, 1)));
}

CBLAS_TRANSPOSE Flag(Transpose transpose) {
  return transpose == Transpose::kYes ? CblasTrans : CblasNoTrans;
}

// c = alpha * a b of `rows` rows of the product, from row `first` on.
template <class T>
void Gemm(const MatMulShape& shape, int64_t first, int64_t rows, T alpha, const T* a, const T* b,
          T* c) {
  const bool transposed = shape.transpose_a == Transpose::kYes;
  const auto m = static_cast<blasint>(rows), n = static_cast<blasint>(shape.n),
             k = static_cast<blasint>(shape.k);
  const auto row_a = static_cast<blasint>(transposed ? shape.m : shape.k);
  const blasint row_b = shape.transpose_b == Transpose::kYes ? k : n;
  a += transposed ? first : first * shape.k;
  const T zero = 0;
  const auto multiply = [&](auto gemm, auto one, auto none) {
    gemm(CblasRowMajor, Flag(shape.transpose_a), Flag(shape.transpose_b), m, n, k, one, a, row_a, b,
         row_b, none, c, n);
  };
  if constexpr (std::is_same_v<T, float>) multiply(cblas_sgemm, alpha, zero);
  if constexpr (std::is_same_v<T, double>) multiply(cblas_dgemm, alpha, zero);
  if constexpr (std::is_same_v<T, std::complex<float>>) multiply(cblas_cgemm, &alpha, &zero);
  if constexpr (std::is_same_v<T, std::complex<double>>) multiply(cblas_zgemm, &alpha, &zero);
}

// Products whose sums are of T.
template <class T>
class Multiplier {
 public:
  Multiplier(const Product& product, std::byte* scratch)
      : product_(product), shape_(product.shape), scratch_(reinterpret_cast<T*>(scratch)) {}

  void Multiply(const ProductOperands& operands) {
    const T* const a = Converted(operands.a, product_.a_type, shape_.m * shape_.k, last_a_, A());
    const T* const b = Converted(operands.b, product_.b_type, shape_.k * shape_.n, last_b_, B());
    ProductRows<T> finish(product_, operands, scratch_);
    const bool in_place = product_.out_type == SumTypeOf<T>();
    const bool is_done =
        in_place && operands.c == nullptr && operands.bias == nullptr && !product_.relu;
    const int64_t block = is_done ? shape_.m : BlockRows(product_);
    for (int64_t first = 0; first < shape_.m; first += block) {
      const int64_t rows = std::min(block, shape_.m - first);
      T* const sums = in_place ? reinterpret_cast<T*>(operands.out) + first * shape_.n : Sums();
      if (shape_.k == 0) {
        std::fill_n(sums, rows * shape_.n, T(0));
      } else {
        Gemm(shape_, first, rows, static_cast<T>(product_.alpha), a, b, sums);
      }
      for (int64_t i = 0; !is_done && i < rows; ++i) {
        finish.Finish(first + i, 0, shape_.n, sums + i * shape_.n);
      }
    }
  }

 private:
  // In scratch memory after the two rows of ProductRows; only of halves.
  T* A() const { return scratch_ + 2 * shape_.n; }
  T* B() const { return A() + shape_.m * shape_.k; }
  T* Sums() const { return B() + shape_.k * shape_.n; }

  // `last`: what `to` holds already.
  const T* Converted(const std::byte* from, ElementType type, int64_t count, const std::byte*& last,
                     T* to) const {
    if (type == SumTypeOf<T>()) return reinterpret_cast<const T*>(from);
    if (from != last) FindCastLoop(type, SumTypeOf<T>())(from, to, static_cast<size_t>(count));
    last = from;
    return to;
  }

  const Product& product_;
  const MatMulShape& shape_;
  T* const scratch_;
  const std::byte* last_a_ = nullptr;
  const std::byte* last_b_ = nullptr;
};

template <class T>
bool MultiplyAll(const Product& product, std::span<const ProductOperands> batch,
                 std::byte* scratch) {
  Multiplier<T> multiplier(product, scratch);
  for (const ProductOperands& operands : batch) multiplier.Multiply(operands);
  return true;
}

}  // namespace

size_t ScratchBytes(const Product& product) {
  if (IsInteger(product.a_type)) return 0;
  const MatMulShape& shape = product.shape;
  int64_t count = 2 * shape.n;
  if (IsHalf(product.a_type)) {
    count += shape.m * shape.k + shape.k * shape.n + BlockRows(product) * shape.n;
  }
  return static_cast<size_t>(count) * SizeOf(SumType(product.a_type));
}

bool Multiply(const Product& product, std::span<const ProductOperands> batch, std::byte* scratch) {
  const MatMulShape& shape = product.shape;
  if (shape.m == 0 || shape.n == 0) return true;
  if (IsInteger(product.a_type)) {
    MultiplyIntegers(product, batch);
    return true;
  }
  if (std::max({shape.m, shape.n, shape.k}) > std::numeric_limits<blasint>::max()) return false;
  switch (SumType(product.a_type)) {
    case ElementType::kFloat32:
      return MultiplyAll<float>(product, batch, scratch);
    case ElementType::kFloat64:
      return MultiplyAll<double>(product, batch, scratch);
    case ElementType::kComplex64:
      return MultiplyAll<std::complex<float>>(product, batch, scratch);
    default:
      return MultiplyAll<std::complex<double>>(product, batch, scratch);
  }
}

const char* BlasCoreToAskFor() {
  constexpr std::string_view kUnknownProcessor = "Prescott";
  if (openblas_get_corename() != kUnknownProcessor) return nullptr;
  const std::string_view level = BestLevel().name;
  if (level == "x86-64-v4") return "SkylakeX";
  return level == "x86-64-v3" ? "Haswell" : nullptr;
}

}  // namespace gpucall::cpu
