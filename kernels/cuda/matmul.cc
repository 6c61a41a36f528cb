#include "kernels/cuda/matmul.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cuda/matmul_problem.h"
#include "kernels/cuda/matmul_rows.h"

namespace gpucall::cuda {
namespace {

using Type = MatMulShape::Type;

// Products of one call; grids of more may not fit.
constexpr int64_t kMaxBatch = 65535;

bool SplitsSums(const cublasLtMatmulAlgo_t& algorithm) {
  int32_t parts = 0;
  size_t written = 0;
  return cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                              sizeof(parts), &written) != CUBLAS_STATUS_SUCCESS ||
         parts > 1;
}

cublasStatus_t FillZeros(const MatMulShape& shape, const MatMulBatch& batch, cudaStream_t stream) {
  const int64_t bytes = ResultBytes(shape);
  for (int64_t i = 0; i < batch.count; ++i) {
    std::byte* c = static_cast<std::byte*>(batch.c) + i * batch.stride_c * bytes;
    if (cudaMemsetAsync(c, 0, static_cast<size_t>(shape.m * shape.n * bytes), stream) !=
        cudaSuccess) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

bool AddsAnything(const MatMulShape& shape) {
  return shape.has_addend || shape.has_bias || shape.relu;
}

MatMulShape Alone(MatMulShape shape) {
  shape.has_addend = shape.has_bias = shape.relu = false;
  return shape;
}

// Whether the library may be asked to add it all: a whole matrix, and for the narrower types bias
// and relu.
bool MayAdd(const MatMulShape& shape, const MatMulBatch& batch) {
  if (shape.has_addend && (batch.addend_row_stride != shape.n || batch.addend_column_stride != 1)) {
    return false;
  }
  return OperandBytes(shape) <= 4 || (!shape.has_bias && !shape.relu);
}

RowsType RowsTypeOf(const MatMulShape& shape) {
  if (shape.widens) return RowsType::kFloat32;
  switch (shape.type) {
    case Type::kFloat16:
      return RowsType::kFloat16;
    case Type::kBfloat16:
      return RowsType::kBfloat16;
    case Type::kFloat64:
    case Type::kComplex128:
      return RowsType::kFloat64;
    default:
      return RowsType::kFloat32;
  }
}

cublasStatus_t Add(const MatMulShape& shape, const MatMulBatch& batch, cudaStream_t stream) {
  const bool is_complex = shape.type == Type::kComplex64 || shape.type == Type::kComplex128;
  const MatMulRows rows = {.type = RowsTypeOf(shape),
                           .parts = is_complex ? 2 : 1,
                           .m = shape.m,
                           .n = shape.n,
                           .count = batch.count,
                           .c = batch.c,
                           .stride_c = batch.stride_c,
                           .addend = shape.has_addend ? batch.addend : nullptr,
                           .stride_addend = batch.stride_addend,
                           .addend_row_stride = batch.addend_row_stride,
                           .addend_column_stride = batch.addend_column_stride,
                           .bias = shape.has_bias ? batch.bias : nullptr,
                           .stride_bias = batch.stride_bias,
                           .beta = batch.beta,
                           .relu = shape.relu};
  return LaunchMatMulRows(rows, stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                       : CUBLAS_STATUS_EXECUTION_FAILED;
}

std::string KeyOf(const MatMulShape& shape) {
  std::string key = "matmul algorithm";
  for (const int64_t number :
       {static_cast<int64_t>(shape.type), shape.m, shape.n, shape.k, int64_t{shape.transpose_a},
        int64_t{shape.transpose_b}, int64_t{shape.widens}, static_cast<int64_t>(shape.precision),
        int64_t{shape.has_addend}, int64_t{shape.has_bias}, int64_t{shape.relu}}) {
    key += ' ';
    key += std::to_string(number);
  }
  return key;
}

}  // namespace

MatMul::Choice MatMul::ReadAlgorithm(const MatMulShape& shape) {
  if (store_ == nullptr) return std::nullopt;
  const std::optional<std::string> text = store_->Read(KeyOf(shape));
  cublasLtMatmulAlgo_t algorithm;
  if (!text.has_value() || text->size() != sizeof(algorithm)) return std::nullopt;
  std::memcpy(&algorithm, text->data(), sizeof(algorithm));
  MatMulProblem problem;
  cublasLtMatmulHeuristicResult_t check = {};
  const bool is_usable =
      problem.Make(shape) == CUBLAS_STATUS_SUCCESS &&
      (!shape.has_bias || problem.SetBias(workspace_, 0) == CUBLAS_STATUS_SUCCESS) &&
      cublasLtMatmulAlgoCheck(handle_, problem.descriptor.get(), problem.b.get(), problem.a.get(),
                              problem.addend.get(), problem.c.get(), &algorithm,
                              &check) == CUBLAS_STATUS_SUCCESS &&
      check.workspaceSize <= kWorkspaceBytes && !SplitsSums(algorithm);
  return is_usable ? Choice(algorithm) : std::nullopt;
}

MatMul::Choice MatMul::ChooseAlgorithm(const MatMulShape& shape) {
  MatMulProblem problem;
  LtPreference preference;
  std::array<cublasLtMatmulHeuristicResult_t, 8> results = {};
  int count = 0;
  const bool is_done =
      problem.Make(shape) == CUBLAS_STATUS_SUCCESS &&
      (!shape.has_bias || problem.SetBias(workspace_, 0) == CUBLAS_STATUS_SUCCESS) &&
      MakePreference(shape, preference) == CUBLAS_STATUS_SUCCESS &&
      cublasLtMatmulAlgoGetHeuristic(handle_, problem.descriptor.get(), problem.b.get(),
                                     problem.a.get(), problem.addend.get(), problem.c.get(),
                                     preference.get(), static_cast<int>(results.size()),
                                     results.data(), &count) == CUBLAS_STATUS_SUCCESS;
  if (!is_done) return std::nullopt;
  const auto usable = [](const cublasLtMatmulHeuristicResult_t& result) {
    return result.state == CUBLAS_STATUS_SUCCESS && !SplitsSums(result.algo);
  };
  const auto end = results.begin() + count;
  const auto chosen = std::find_if(results.begin(), end, usable);
  if (chosen == end) return std::nullopt;
  if (store_ != nullptr) {
    store_->Write(KeyOf(shape),
                  std::string(reinterpret_cast<const char*>(&chosen->algo), sizeof(chosen->algo)));
  }
  return chosen->algo;
}

const MatMul::Choice& MatMul::FindAlgorithm(const MatMulShape& shape) {
  if (const auto found = algorithms_.find(shape); found != algorithms_.end()) return found->second;
  if (algorithms_.size() >= kMaxKeptAlgorithms) algorithms_.clear();
  Choice choice = ReadAlgorithm(shape);
  if (!choice.has_value()) choice = ChooseAlgorithm(shape);
  return algorithms_[shape] = choice;
}

cublasStatus_t MatMul::Multiply(const MatMulShape& shape, const MatMulBatch& batch,
                                cublasLtMatmulAlgo_t algorithm, cudaStream_t stream) {
  MatMulProblem problem;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.Make(shape));
  if (shape.has_bias) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.SetBias(batch.bias, batch.stride_bias));
  }
  // Most algorithms take a whole batch; with one that does not, products go one by one.
  int64_t step = std::min(batch.count, kMaxBatch);
  GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.SetBatch(batch, step));
  cublasLtMatmulHeuristicResult_t check = {};
  if (step > 1 && (cublasLtMatmulAlgoCheck(handle_, problem.descriptor.get(), problem.b.get(),
                                           problem.a.get(), problem.addend.get(), problem.c.get(),
                                           &algorithm, &check) != CUBLAS_STATUS_SUCCESS ||
                   check.workspaceSize > kWorkspaceBytes)) {
    step = 1;
  }
  const MatMulFactor alpha(shape, batch.alpha), beta(shape, shape.has_addend ? batch.beta : 0);
  const auto at = [](const void* data, int64_t elements, int64_t bytes) {
    return static_cast<const std::byte*>(data) + elements * bytes;
  };
  const int64_t operand_bytes = OperandBytes(shape), bytes = ResultBytes(shape);
  for (int64_t i = 0; i < batch.count; i += step) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.SetBatch(batch, std::min(step, batch.count - i)));
    if (shape.has_bias && i > 0) {
      GPUCALL_RETURN_IF_CUBLAS_ERROR(
          problem.SetBias(at(batch.bias, i * batch.stride_bias, bytes), batch.stride_bias));
    }
    const std::byte* const a = at(batch.a, i * batch.stride_a, operand_bytes);
    const std::byte* const b = at(batch.b, i * batch.stride_b, operand_bytes);
    std::byte* const c = static_cast<std::byte*>(batch.c) + i * batch.stride_c * bytes;
    const std::byte* const addend =
        shape.has_addend ? at(batch.addend, i * batch.stride_addend, bytes) : c;
    GPUCALL_RETURN_IF_CUBLAS_ERROR(
        cublasLtMatmul(handle_, problem.descriptor.get(), alpha.data(), b, problem.b.get(), a,
                       problem.a.get(), beta.data(), addend, problem.addend.get(), c,
                       problem.c.get(), &algorithm, workspace_, kWorkspaceBytes, stream));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MatMul::Run(const MatMulShape& shape, const MatMulBatch& batch,
                           cudaStream_t stream) {
  if (shape.m == 0 || shape.n == 0 || batch.count == 0) return CUBLAS_STATUS_SUCCESS;
  const MatMulShape alone = Alone(shape);
  if (shape.k == 0) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(FillZeros(shape, batch, stream));
    return AddsAnything(shape) ? Add(shape, batch, stream) : CUBLAS_STATUS_SUCCESS;
  }
  if (AddsAnything(shape) && MayAdd(shape, batch)) {
    if (const Choice choice = FindAlgorithm(shape); choice.has_value()) {
      return Multiply(shape, batch, *choice, stream);
    }
  }
  const Choice choice = FindAlgorithm(alone);
  if (!choice.has_value()) return CUBLAS_STATUS_NOT_SUPPORTED;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(Multiply(alone, batch, *choice, stream));
  return AddsAnything(shape) ? Add(shape, batch, stream) : CUBLAS_STATUS_SUCCESS;
}

}  // namespace gpucall::cuda
