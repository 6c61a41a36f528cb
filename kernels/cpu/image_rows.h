// Rows of images divided among threads.
#ifndef GPUCALL_KERNELS_CPU_IMAGE_ROWS_H_
#define GPUCALL_KERNELS_CPU_IMAGE_ROWS_H_

#include <cstdint>
#include <functional>

#include "kernels/image_elements.h"

namespace gpucall::cpu {

// Calls part(first, last) for ranges that together are 0 to `rows`, on this thread and, where
// `work` (reads and writes of elements, about) is large, on further ones, which it waits for.
void DivideRows(int64_t rows, int64_t work, const std::function<void(int64_t, int64_t)>& part);

// Makes every pixel of the output; `reads`: of elements for each element.
template <class Kernel>
void MakePixels(const image::Arguments& a, int64_t reads = 1) {
  const image::Sizes sizes = a.out_sizes;
  if (sizes.images == 0 || sizes.rows == 0) return;
  const int64_t rows = sizes.images * sizes.rows;
  const int64_t work = rows * sizes.columns * sizes.channels * reads;
  DivideRows(rows, work, [&](int64_t first, int64_t last) {
    const image::Arguments arguments = a;
    for (int64_t row = first; row < last; ++row) {
      const int64_t n = row / sizes.rows, y = row % sizes.rows;
      for (int64_t x = 0; x < sizes.columns; ++x) Kernel::Pixel(arguments, n, y, x);
    }
  });
}

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_IMAGE_ROWS_H_
