#include "kernels/cuda/matmul.h"

#include <algorithm>
#include <array>
#include <memory>

#define GPUCALL_RETURN_IF_CUBLAS_ERROR(call)              \
  do {                                                    \
    const cublasStatus_t status_ = (call);                \
    if (status_ != CUBLAS_STATUS_SUCCESS) return status_; \
  } while (false)

namespace gpucall::cuda {
namespace {

// Products of one call; grids of more may not fit.
constexpr int64_t kMaxBatch = 65535;

template <typename HandleT, auto Destroy>
struct LtDeleter {
  using pointer = HandleT;
  void operator()(HandleT handle) const noexcept { static_cast<void>(Destroy(handle)); }
};
template <typename HandleT, auto Destroy>
using LtOwner = std::unique_ptr<HandleT, LtDeleter<HandleT, Destroy>>;
using LtDescriptor = LtOwner<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using LtLayout = LtOwner<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using LtPreference = LtOwner<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

bool IsDouble(const MatMulShape& shape) { return shape.type == MatMulShape::Type::kFloat64; }
int64_t ElementBytes(const MatMulShape& shape) { return IsDouble(shape) ? 8 : 4; }

template <typename ValueT>
cublasStatus_t Set(cublasLtMatmulDesc_t descriptor, cublasLtMatmulDescAttributes_t attribute,
                   ValueT value) {
  return cublasLtMatmulDescSetAttribute(descriptor, attribute, &value, sizeof(value));
}
template <typename ValueT>
cublasStatus_t Set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
                   ValueT value) {
  return cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof(value));
}
template <typename ValueT>
cublasStatus_t Set(cublasLtMatmulPreference_t preference,
                   cublasLtMatmulPreferenceAttributes_t attribute, ValueT value) {
  return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value));
}

// The library's matrices are column-major, so a row-major matrix is its transpose there, and it
// computes transposed c (n x m) = transposed op(b) (n x k) * transposed op(a) (k x m).
struct Problem {
  LtDescriptor descriptor;
  LtLayout b, a, c;

  cublasStatus_t Make(const MatMulShape& shape);
  // Strides in elements.
  cublasStatus_t SetBatch(int64_t count, int64_t stride_a, int64_t stride_b, int64_t stride_c);
};

// `rows` x `columns`, column-major and dense.
cublasStatus_t MakeLayout(const MatMulShape& shape, int64_t rows, int64_t columns,
                          LtLayout& layout) {
  cublasLtMatrixLayout_t made = nullptr;
  const cublasStatus_t status =
      cublasLtMatrixLayoutCreate(&made, IsDouble(shape) ? CUDA_R_64F : CUDA_R_32F,
                                 static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), rows);
  layout.reset(made);
  return status;
}

cublasStatus_t Problem::Make(const MatMulShape& shape) {
  const bool is_double = IsDouble(shape);
  cublasLtMatmulDesc_t made = nullptr;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      cublasLtMatmulDescCreate(&made, is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                               is_double ? CUDA_R_64F : CUDA_R_32F));
  descriptor.reset(made);
  const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_DESC_TRANSA, operation(shape.transpose_b)));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_DESC_TRANSB, operation(shape.transpose_a)));
  const auto [m, n, k] = std::array{shape.m, shape.n, shape.k};
  GPUCALL_RETURN_IF_CUBLAS_ERROR(shape.transpose_b ? MakeLayout(shape, k, n, b)
                                                   : MakeLayout(shape, n, k, b));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(shape.transpose_a ? MakeLayout(shape, m, k, a)
                                                   : MakeLayout(shape, k, m, a));
  return MakeLayout(shape, n, m, c);
}

cublasStatus_t Problem::SetBatch(int64_t count, int64_t stride_a, int64_t stride_b,
                                 int64_t stride_c) {
  const std::array<std::pair<cublasLtMatrixLayout_t, int64_t>, 3> strides = {
      {{a.get(), stride_a}, {b.get(), stride_b}, {c.get(), stride_c}}};
  for (const auto& [layout, stride] : strides) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(
        Set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(count)));
    GPUCALL_RETURN_IF_CUBLAS_ERROR(
        Set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride));
  }
  return CUBLAS_STATUS_SUCCESS;
}

// What the addresses of matrices of this size are all multiples of, in a dense batch too.
uint32_t Alignment(const MatMulShape& shape, int64_t rows, int64_t columns) {
  const int64_t size_bytes = rows * columns * ElementBytes(shape);
  return static_cast<uint32_t>(std::min<int64_t>(size_bytes & -size_bytes, 256));
}

cublasStatus_t MakePreference(const MatMulShape& shape, LtPreference& preference) {
  cublasLtMatmulPreference_t made = nullptr;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(cublasLtMatmulPreferenceCreate(&made));
  preference.reset(made);
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{MatMul::kWorkspaceBytes}));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(Set(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                     uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE}));
  // The library's a is our b.
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Alignment(shape, shape.k, shape.n)));
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      Set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Alignment(shape, shape.m, shape.k)));
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(Set(made, attribute, Alignment(shape, shape.m, shape.n)));
  }
  return CUBLAS_STATUS_SUCCESS;
}

bool SplitsSums(const cublasLtMatmulAlgo_t& algorithm) {
  int32_t parts = 0;
  size_t written = 0;
  return cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                              sizeof(parts), &written) != CUBLAS_STATUS_SUCCESS ||
         parts > 1;
}

cublasStatus_t FillZeros(const MatMulShape& shape, const MatMulBatch& batch, cudaStream_t stream) {
  const int64_t bytes = ElementBytes(shape);
  for (int64_t i = 0; i < batch.count; ++i) {
    std::byte* c = static_cast<std::byte*>(batch.c) + i * batch.stride_c * bytes;
    if (cudaMemsetAsync(c, 0, static_cast<size_t>(shape.m * shape.n * bytes), stream) !=
        cudaSuccess) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t MatMul::FindAlgorithm(const MatMulShape& shape, cublasLtMatmulAlgo_t& algorithm) {
  if (const auto found = algorithms_.find(shape); found != algorithms_.end()) {
    algorithm = found->second;
    return CUBLAS_STATUS_SUCCESS;
  }
  Problem problem;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.Make(shape));
  LtPreference preference;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(MakePreference(shape, preference));
  std::array<cublasLtMatmulHeuristicResult_t, 8> results = {};
  int count = 0;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(cublasLtMatmulAlgoGetHeuristic(
      handle_, problem.descriptor.get(), problem.b.get(), problem.a.get(), problem.c.get(),
      problem.c.get(), preference.get(), static_cast<int>(results.size()), results.data(), &count));
  const auto usable = [](const cublasLtMatmulHeuristicResult_t& result) {
    return result.state == CUBLAS_STATUS_SUCCESS && !SplitsSums(result.algo);
  };
  const auto end = results.begin() + count;
  const auto chosen = std::find_if(results.begin(), end, usable);
  if (chosen == end) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (algorithms_.size() >= kMaxKeptAlgorithms) algorithms_.clear();
  algorithm = algorithms_[shape] = chosen->algo;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MatMul::Run(const MatMulShape& shape, const MatMulBatch& batch,
                           cudaStream_t stream) {
  if (shape.m == 0 || shape.n == 0 || batch.count == 0) return CUBLAS_STATUS_SUCCESS;
  if (shape.k == 0) return FillZeros(shape, batch, stream);
  cublasLtMatmulAlgo_t algorithm;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(FindAlgorithm(shape, algorithm));
  Problem problem;
  GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.Make(shape));

  // Most algorithms take a whole batch; with one that does not, products go one by one.
  int64_t step = std::min(batch.count, kMaxBatch);
  GPUCALL_RETURN_IF_CUBLAS_ERROR(
      problem.SetBatch(step, batch.stride_a, batch.stride_b, batch.stride_c));
  cublasLtMatmulHeuristicResult_t check = {};
  if (step > 1 && (cublasLtMatmulAlgoCheck(handle_, problem.descriptor.get(), problem.b.get(),
                                           problem.a.get(), problem.c.get(), problem.c.get(),
                                           &algorithm, &check) != CUBLAS_STATUS_SUCCESS ||
                   check.workspaceSize > kWorkspaceBytes)) {
    step = 1;
  }
  const double one = 1, zero = 0;
  const float one_float = 1, zero_float = 0;
  const void* alpha = IsDouble(shape) ? static_cast<const void*>(&one) : &one_float;
  const void* beta = IsDouble(shape) ? static_cast<const void*>(&zero) : &zero_float;
  const int64_t bytes = ElementBytes(shape);
  for (int64_t i = 0; i < batch.count; i += step) {
    GPUCALL_RETURN_IF_CUBLAS_ERROR(problem.SetBatch(std::min(step, batch.count - i), batch.stride_a,
                                                    batch.stride_b, batch.stride_c));
    const std::byte* a = static_cast<const std::byte*>(batch.a) + i * batch.stride_a * bytes;
    const std::byte* b = static_cast<const std::byte*>(batch.b) + i * batch.stride_b * bytes;
    std::byte* c = static_cast<std::byte*>(batch.c) + i * batch.stride_c * bytes;
    GPUCALL_RETURN_IF_CUBLAS_ERROR(cublasLtMatmul(
        handle_, problem.descriptor.get(), alpha, b, problem.b.get(), a, problem.a.get(), beta, c,
        problem.c.get(), c, problem.c.get(), &algorithm, workspace_, kWorkspaceBytes, stream));
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace gpucall::cuda
