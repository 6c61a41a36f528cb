#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vector.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// Sums of `rows` rows and two vectors of columns, held in registers over all terms.
template <class T, size_t rows>
inline void AddBlock(const T* a, size_t a_stride, const T* b, size_t b_stride, size_t terms, T* c,
                     size_t c_stride) {
  Vector<T> sums[rows][2];
  for (size_t i = 0; i < rows; ++i) {
    sums[i][0] = LoadVector(c + i * c_stride);
    sums[i][1] = LoadVector(c + i * c_stride + kLanes<T>);
  }
  for (size_t t = 0; t < terms; ++t) {
    const Vector<T> first = LoadVector(b + t * b_stride);
    const Vector<T> second = LoadVector(b + t * b_stride + kLanes<T>);
    for (size_t i = 0; i < rows; ++i) {
      const T factor = a[i * a_stride + t];
      sums[i][0] += first * factor;
      sums[i][1] += second * factor;
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    StoreVector(sums[i][0], c + i * c_stride);
    StoreVector(sums[i][1], c + i * c_stride + kLanes<T>);
  }
}

template <class T>
void AddProduct(const T* a, size_t a_stride, const T* b, size_t b_stride, T* c, size_t c_stride,
                size_t rows, size_t terms, size_t columns) {
  for (size_t j = 0; j < columns; j += 2 * kLanes<T>) {
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      AddBlock<T, 4>(a + i * a_stride, a_stride, b + j, b_stride, terms, c + i * c_stride + j,
                     c_stride);
    }
    for (; i < rows; ++i) {
      AddBlock<T, 1>(a + i * a_stride, a_stride, b + j, b_stride, terms, c + i * c_stride + j,
                     c_stride);
    }
  }
}

}  // namespace

const ProductTable kProducts = {.add32 = AddProduct<uint32_t>, .add64 = AddProduct<uint64_t>};

}  // namespace gpucall::cpu::GPUCALL_LEVEL
