// Matrix products: of floats by OpenBLAS, of integers by blocks.
#ifndef GPUCALL_KERNELS_CPU_MATMUL_H_
#define GPUCALL_KERNELS_CPU_MATMUL_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/element_type.h"

namespace gpucall::cpu {

enum class Transpose : uint8_t { kNo, kYes };

// Sizes of out = op(a) op(b), row-major and dense: op(a) is m x k, op(b) is k x n, out is m x n.
// Any may be 0; with k = 0 the sums are zeros.
struct MatMulShape {
  int64_t m = 0, n = 0, k = 0;
  Transpose transpose_a = Transpose::kNo;  // a is stored k x m
  Transpose transpose_b = Transpose::kNo;  // b is stored n x k
};

// out = alpha * op(a) op(b) + beta * c + bias, and, where `relu`, the larger of this and 0.
struct Product {
  MatMulShape shape;
  // Of a and b: the same, or integers. Of c, bias and out: out_type: the operands', float32 for
  // halves, or any integer type for integers. Not kBool.
  ElementType a_type = ElementType::kFloat32, b_type = ElementType::kFloat32,
              out_type = ElementType::kFloat32;
  double alpha = 1, beta = 1;                     // whole numbers for integers
  int64_t c_row_stride = 0, c_column_stride = 0;  // in elements
  bool relu = false;
};
struct ProductOperands {
  const std::byte* a;
  const std::byte* b;
  const std::byte* c;     // null: there is none
  const std::byte* bias;  // n elements; null: there is none
  std::byte* out;
};

// Scratch memory that Multiply needs, for products of floats.
size_t ScratchBytes(const Product& product);

// The product of each element of `batch`. Float operands of 4 bytes or more, and `out`, are aligned
// for their type; `scratch` to 64; out overlaps no operand. False, with out unspecified: a size of
// floats is past the BLAS's integers (2^31 - 1). Halves are multiplied in float32 and rounded once.
// Blocks; uses the threads OpenBLAS is set to use for one large product, and as many for integers;
// the result of a product depends on neither its place in the batch nor the batch.
bool Multiply(const Product& product, std::span<const ProductOperands> batch, std::byte* scratch);

// OpenBLAS takes a processor newer than itself for the oldest it knows and then multiplies several
// times slower. The value of the environment variable OPENBLAS_CORETYPE that puts this right, null
// where its own choice is good. It reads the variable once, when the process starts.
const char* BlasCoreToAskFor();

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_MATMUL_H_
