// What is added to products that the library left as they are.
#ifndef GPUCALL_KERNELS_CUDA_MATMUL_ROWS_H_
#define GPUCALL_KERNELS_CUDA_MATMUL_ROWS_H_

#include <cuda_runtime_api.h>

namespace gpucall::cuda {

enum class RowsType { kFloat16, kBfloat16, kFloat32, kFloat64 };

// c = sums + beta * addend + bias for each of `count` matrices of m x n elements, and, where
// `relu`, negative elements become 0. Device memory. Strides in elements; an element is `parts`
// numbers (2: real and imaginary part). addend and bias: null: there is none. Halves are added in
// float.
struct MatMulRows {
  RowsType type;
  int parts;
  long long m, n, count;
  void* c;
  long long stride_c;
  const float* sums;  // dense; null: those in c
  const void* addend;
  long long stride_addend, addend_row_stride, addend_column_stride;
  const void* bias;
  long long stride_bias;
  double beta;
  bool relu;
};
cudaError_t LaunchMatMulRows(const MatMulRows& rows, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_MATMUL_ROWS_H_
