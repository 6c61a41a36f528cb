// A matrix product as cuBLASLt describes it.
#ifndef GPUCALL_KERNELS_CUDA_MATMUL_PROBLEM_H_
#define GPUCALL_KERNELS_CUDA_MATMUL_PROBLEM_H_

#include <cublasLt.h>

#include <cstdint>
#include <memory>

#include "kernels/cuda/matmul.h"

#define GPUCALL_RETURN_IF_CUBLAS_ERROR(call)              \
  do {                                                    \
    const cublasStatus_t status_ = (call);                \
    if (status_ != CUBLAS_STATUS_SUCCESS) return status_; \
  } while (false)

namespace gpucall::cuda {

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

// Bytes of an element of a and b, and of c.
int64_t OperandBytes(const MatMulShape& shape);
int64_t ResultBytes(const MatMulShape& shape);
// `count` products from number `first` on.
MatMulBatch Part(const MatMulShape& shape, MatMulBatch batch, int64_t first, int64_t count);

// The library's matrices are column-major, so a row-major matrix is its transpose there, and it
// computes transposed c (n x m) = transposed op(b) (n x k) * transposed op(a) (k x m).
struct MatMulProblem {
  LtDescriptor descriptor;
  LtLayout b, a, addend, c;
  bool has_addend = false;

  cublasStatus_t Make(const MatMulShape& shape);
  // The strides of `batch`, for `count` of its products.
  cublasStatus_t SetBatch(const MatMulBatch& batch, int64_t count);
  cublasStatus_t SetBias(const void* bias, int64_t stride);
};

// Sums that are not split, and the alignment of matrices of this shape.
cublasStatus_t MakePreference(const MatMulShape& shape, LtPreference& preference);

// A factor as the library reads it, in the type it scales in.
class MatMulFactor {
 public:
  MatMulFactor(const MatMulShape& shape, double value);
  const void* data() const { return &value_; }

 private:
  union {
    int32_t integer;
    float real[2];
    double wide[2];
  } value_;
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_MATMUL_PROBLEM_H_
