// Matrix products by OpenBLAS.
#ifndef GPUCALL_KERNELS_CPU_MATMUL_H_
#define GPUCALL_KERNELS_CPU_MATMUL_H_

#include <cstdint>
#include <span>

namespace gpucall::cpu {

enum class Transpose : uint8_t { kNo, kYes };

// Sizes of c = op(a) op(b), row-major and dense: op(a) is m x k, op(b) is k x n, c is m x n. Any
// may be 0; with k = 0 the product is zeros.
struct MatMulShape {
  int64_t m = 0, n = 0, k = 0;
  Transpose transpose_a = Transpose::kNo;  // a is stored k x m
  Transpose transpose_b = Transpose::kNo;  // b is stored n x k
};

template <class Real>
struct MatMulOperands {
  const Real* a;
  const Real* b;
  Real* c;
};

// The product of each element of `batch`. Pointers are aligned for their type; c overlaps no
// operand. False, with c unspecified: a size is past the BLAS's integers (2^31 - 1). Blocks, and
// uses the threads OpenBLAS is set to use for one large product; the result of a product depends on
// neither its place in the batch nor the batch.
bool MatMul(const MatMulShape& shape, std::span<const MatMulOperands<float>> batch);
bool MatMul(const MatMulShape& shape, std::span<const MatMulOperands<double>> batch);

// OpenBLAS takes a processor newer than itself for the oldest it knows and then multiplies several
// times slower. The value of the environment variable OPENBLAS_CORETYPE that puts this right, null
// where its own choice is good. It reads the variable once, when the process starts.
const char* BlasCoreToAskFor();

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_MATMUL_H_
