// Filters along one axis of an array.
#ifndef GPUCALL_KERNELS_CPU_LINE_FILTER_H_
#define GPUCALL_KERNELS_CPU_LINE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/border.h"
#include "kernels/cpu/element_type.h"
#include "kernels/numbers.h"

namespace gpucall::cpu {

// Lines of `count` elements: element e of line (o, i) is number (o * count + e) * inner + i.
// The window of element e are elements e - before to e - before + size - 1 of its line.
struct LineFilterShape {
  int64_t outer, count, inner;
  int64_t size, before;  // 1 or more, 0 to size - 1
  BorderRule border;
  double cval;
};

// Each element of `out` is the sum of its window's elements times `weights`, `size` of them, over
// `divisor`, in double precision and in scipy.ndimage's order, then cast: integers are cut off
// towards zero and saturate. `x` needs no alignment. Real types but halves.
void LineSum(const std::byte* x, ElementType from, const LineFilterShape& shape,
             const std::vector<double>& weights, double divisor, std::byte* out, ElementType to);

// Each element of `out` is its window's least or largest. NaN is the largest, -0 is less than 0.
// Elements have 1, 2, 4 or 8 bytes, floats 4 or 8. `cval`: an element, in place of shape.cval.
void LineExtreme(const std::byte* x, Numbers numbers, size_t element_bytes,
                 const LineFilterShape& shape, const std::byte* cval, bool largest, std::byte* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_LINE_FILTER_H_
