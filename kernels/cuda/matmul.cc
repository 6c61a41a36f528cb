#include "kernels/cuda/matmul.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/cuda/matmul_integer.h"
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

bool IsHalf(const MatMulShape& shape) {
  return !shape.widens && (shape.type == Type::kFloat16 || shape.type == Type::kBfloat16);
}

// Of int8 operands that are worth transposing first: tensor cores take rows of a and columns of b.
int64_t TransposedBytes(const MatMulShape& shape) {
  constexpr int64_t kWorthIt = 64;
  if (shape.m < kWorthIt || shape.n < kWorthIt) return 0;
  return (shape.transpose_a ? shape.m * shape.k : 0) + (shape.transpose_b ? 0 : shape.k * shape.n);
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
                           .sums = reinterpret_cast<const float*>(batch.scratch),
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

struct MatMul::Prepared {
  MatMulProblem problem;
  cublasLtMatmulAlgo_t algorithm;
};

MatMul::MatMul(cublasLtHandle_t handle, void* workspace, AlgorithmStore* store)
    : handle_(handle), workspace_(workspace), store_(store) {}
MatMul::~MatMul() = default;

bool MatMul::ReadAlgorithm(const MatMulShape& shape, Prepared& prepared) {
  if (store_ == nullptr) return false;
  const std::optional<std::string> text = store_->Read(KeyOf(shape));
  cublasLtMatmulAlgo_t& algorithm = prepared.algorithm;
  if (!text.has_value() || text->size() != sizeof(algorithm)) return false;
  std::memcpy(&algorithm, text->data(), sizeof(algorithm));
  const MatMulProblem& problem = prepared.problem;
  cublasLtMatmulHeuristicResult_t check = {};
  return cublasLtMatmulAlgoCheck(handle_, problem.descriptor.get(), problem.b.get(),
                                 problem.a.get(), problem.addend.get(), problem.c.get(), &algorithm,
                                 &check) == CUBLAS_STATUS_SUCCESS &&
         check.workspaceSize <= kWorkspaceBytes && !SplitsSums(algorithm);
}

bool MatMul::ChooseAlgorithm(const MatMulShape& shape, Prepared& prepared) {
  const MatMulProblem& problem = prepared.problem;
  LtPreference preference;
  std::array<cublasLtMatmulHeuristicResult_t, 8> results = {};
  int count = 0;
  if (MakePreference(shape, preference) != CUBLAS_STATUS_SUCCESS ||
      cublasLtMatmulAlgoGetHeuristic(handle_, problem.descriptor.get(), problem.b.get(),
                                     problem.a.get(), problem.addend.get(), problem.c.get(),
                                     preference.get(), static_cast<int>(results.size()),
                                     results.data(), &count) != CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  const auto usable = [](const cublasLtMatmulHeuristicResult_t& result) {
    return result.state == CUBLAS_STATUS_SUCCESS && !SplitsSums(result.algo);
  };
  const auto end = results.begin() + count;
  const auto chosen = std::find_if(results.begin(), end, usable);
  if (chosen == end) return false;
  prepared.algorithm = chosen->algo;
  if (store_ != nullptr) {
    store_->Write(KeyOf(shape),
                  std::string(reinterpret_cast<const char*>(&chosen->algo), sizeof(chosen->algo)));
  }
  return true;
}

MatMul::Prepared* MatMul::Prepare(const MatMulShape& shape) {
  if (const auto found = prepared_.find(shape); found != prepared_.end()) {
    return found->second.get();
  }
  if (prepared_.size() >= kMaxKept) prepared_.clear();
  auto made = std::make_unique<Prepared>();
  const bool is_usable =
      made->problem.Make(shape) == CUBLAS_STATUS_SUCCESS &&
      (!shape.has_bias || made->problem.SetBias(workspace_, 0) == CUBLAS_STATUS_SUCCESS) &&
      (ReadAlgorithm(shape, *made) || ChooseAlgorithm(shape, *made));
  if (!is_usable) made.reset();
  return (prepared_[shape] = std::move(made)).get();
}

cublasStatus_t MatMul::Multiply(const MatMulShape& shape, const MatMulBatch& batch,
                                Prepared& prepared, cudaStream_t stream) {
  MatMulProblem& problem = prepared.problem;
  const MatMulFactor alpha(shape, batch.alpha), beta(shape, shape.has_addend ? batch.beta : 0);
  const auto multiply = [&](const MatMulBatch& part) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.SetBatch(part, part.count));
    if (shape.has_bias) {
      GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.SetBias(part.bias, part.stride_bias));
    }
    return cublasLtMatmul(
        handle_, problem.descriptor.get(), alpha.data(), part.b, problem.b.get(), part.a,
        problem.a.get(), beta.data(), shape.has_addend ? part.addend : part.c, problem.addend.get(),
        part.c, problem.c.get(), &prepared.algorithm, workspace_, kWorkspaceBytes, stream);
  };
  // Most algorithms take a whole batch; with one that does not, products go one by one.
  int64_t step = std::min(batch.count, kMaxBatch);
  for (int64_t i = 0; i < batch.count;) {
    const int64_t count = std::min(step, batch.count - i);
    const cublasStatus_t status = multiply(Part(shape, batch, i, count));
    if (status == CUBLAS_STATUS_SUCCESS) {
      i += count;
    } else if (i == 0 && step > 1 && status != CUBLAS_STATUS_EXECUTION_FAILED) {
      step = 1;
    } else {
      return status;
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

bool MatMul::Adds(const MatMulShape& shape, const MatMulBatch& batch) {
  return MayAdd(shape, batch) && Prepare(shape) != nullptr;
}

int64_t MatMul::ScratchBytes(const MatMulShape& shape, const MatMulBatch& batch) {
  if (shape.type == Type::kInt8) return TransposedBytes(shape);
  const bool needs_sums = IsHalf(shape) && AddsAnything(shape) && !Adds(shape, batch);
  return needs_sums ? shape.m * shape.n * static_cast<int64_t>(sizeof(float)) : 0;
}

cublasStatus_t MatMul::RunWithSums(const MatMulShape& shape, const MatMulBatch& batch,
                                   cudaStream_t stream) {
  MatMulShape sums = Alone(shape);
  sums.widens = true;
  Prepared* const prepared = Prepare(sums);
  if (prepared == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int64_t i = 0; i < batch.count; i += batch.scratch_count) {
    const MatMulBatch part = Part(shape, batch, i, std::min(batch.scratch_count, batch.count - i));
    MatMulBatch to_sums = part;
    to_sums.c = batch.scratch;
    to_sums.stride_c = shape.m * shape.n;
    GPUCALL_RETURN_IF_CUBLAS_ERROR(Multiply(sums, to_sums, *prepared, stream));
    GPUCALL_RETURN_IF_CUBLAS_ERROR(Add(shape, part, stream));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MatMul::RunTransposed(const MatMulShape& shape, const MatMulBatch& batch,
                                     cudaStream_t stream) {
  MatMulShape turned = shape;
  turned.transpose_a = false;
  turned.transpose_b = true;
  Prepared* const prepared = Prepare(turned);
  if (prepared == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int64_t i = 0; i < batch.count; i += batch.scratch_count) {
    MatMulBatch part = Part(shape, batch, i, std::min(batch.scratch_count, batch.count - i));
    std::byte* to = batch.scratch;
    const auto turn = [&](const void*& data, int64_t& stride, int64_t rows, int64_t columns) {
      const int64_t count = stride == 0 ? 1 : part.count, size = rows * columns;
      const ByteMatrices matrices = {rows, columns, count, data, stride, to};
      data = to;
      stride = stride == 0 ? 0 : size;
      to += count * size;
      return LaunchTransposeBytes(matrices, stream) == cudaSuccess;
    };
    if ((!shape.transpose_b && !turn(part.b, part.stride_b, shape.k, shape.n)) ||
        (shape.transpose_a && !turn(part.a, part.stride_a, shape.k, shape.m))) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    GPUCALL_RETURN_IF_CUBLAS_ERROR(Multiply(turned, part, *prepared, stream));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MatMul::Run(const MatMulShape& shape, const MatMulBatch& batch,
                           cudaStream_t stream) {
  if (shape.m == 0 || shape.n == 0 || batch.count == 0) return CUBLAS_STATUS_SUCCESS;
  const bool adds = AddsAnything(shape);
  if (shape.k == 0) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(FillZeros(shape, batch, stream));
    MatMulBatch to_zeros = batch;
    to_zeros.scratch = nullptr;
    return adds ? Add(shape, to_zeros, stream) : CUBLAS_STATUS_SUCCESS;
  }
  if (shape.type == Type::kInt8 && TransposedBytes(shape) > 0) {
    return RunTransposed(shape, batch, stream);
  }
  const bool adds_itself = adds && Adds(shape, batch);
  if (adds && !adds_itself && IsHalf(shape)) return RunWithSums(shape, batch, stream);
  const MatMulShape multiplied = adds_itself ? shape : Alone(shape);
  Prepared* const prepared = Prepare(multiplied);
  if (prepared == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(Multiply(multiplied, batch, *prepared, stream));
  return adds && !adds_itself ? Add(shape, batch, stream) : CUBLAS_STATUS_SUCCESS;
}

}  // namespace gpucall::cuda
