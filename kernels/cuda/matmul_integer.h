// Products of integers of any type, wrapping.
#ifndef GPUCALL_KERNELS_CUDA_MATMUL_INTEGER_H_
#define GPUCALL_KERNELS_CUDA_MATMUL_INTEGER_H_

#include <cuda_runtime_api.h>

namespace gpucall::cuda {

struct IntegerType {
  int bytes;  // 1, 2, 4 or 8
  bool is_signed;
};

// out = alpha * op(a) op(b) + beta * addend + bias for each of `count` products, and, where `relu`,
// negative elements become 0. Row-major and dense: op(a) is m x k, op(b) is k x n, out is m x n.
// Any may be 0; with k = 0 the sums are zeros. Device memory, aligned for its types. Strides in
// elements, of all but out 0 repeats.
struct IntegerProducts {
  IntegerType a_type, b_type, out_type;  // addend and bias are of out_type
  bool transpose_a, transpose_b;         // a is stored k x m, b n x k
  bool relu;
  long long m, n, k, count;
  const void* a;
  const void* b;
  const void* addend;  // null: there is none
  const void* bias;    // n elements; null: there is none
  void* out;
  long long stride_a, stride_b, stride_addend, stride_bias, stride_out;
  long long addend_row_stride, addend_column_stride;
  long long alpha, beta;
};
cudaError_t LaunchIntegerProducts(const IntegerProducts& products, cudaStream_t stream);

// `count` matrices of rows x columns bytes, both multiples of 16, `stride` bytes apart, are written
// transposed to `out`, one after another. Device memory, aligned to 16.
struct ByteMatrices {
  long long rows, columns, count;
  const void* x;
  long long stride;
  void* out;
};
cudaError_t LaunchTransposeBytes(const ByteMatrices& matrices, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_MATMUL_INTEGER_H_
