// The loop under products of integers.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_PRODUCT_LOOPS_H_
#define GPUCALL_KERNELS_CPU_LOOPS_PRODUCT_LOOPS_H_

#include <cstddef>
#include <cstdint>

namespace gpucall::cpu {

// Loops work in whole vectors: columns are written, and read, to the next multiple of this.
inline constexpr size_t kProductColumns = 32;

// c[i * c_stride + j] += the sum over t < terms of a[i * a_stride + t] * b[t * b_stride + j], for
// i < rows and j < columns; wraps.
template <class T>
using AddProductLoop = void (*)(const T* a, size_t a_stride, const T* b, size_t b_stride, T* c,
                                size_t c_stride, size_t rows, size_t terms, size_t columns);
struct ProductTable {
  AddProductLoop<uint32_t> add32;
  AddProductLoop<uint64_t> add64;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_LOOPS_PRODUCT_LOOPS_H_
