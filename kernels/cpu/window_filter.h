// Filters over windows of any rank.
#ifndef GPUCALL_KERNELS_CPU_WINDOW_FILTER_H_
#define GPUCALL_KERNELS_CPU_WINDOW_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/border.h"
#include "kernels/cpu/element_type.h"
#include "kernels/numbers.h"

namespace gpucall::cpu {

// A dense array of `shape`, and the windows of its elements: those at the element's coordinates
// plus each of the offsets. All lists have a number for each dimension, of which there is one or
// more.
struct WindowFilterShape {
  std::vector<int64_t> shape;
  std::vector<BorderRule> borders;
  std::vector<int64_t> size,
      before;                    // offsets of dimension d are -before[d] .. size[d]-1-before[d]
  std::vector<int64_t> offsets;  // one after another
};

// Each element of `out` is the sum of its window's elements times the weights of their offsets, in
// double precision and in this order, then cast: integers are cut off towards zero and saturate.
// `x` needs no alignment. Real types but halves.
void WindowSum(const std::byte* x, ElementType from, const WindowFilterShape& window,
               const std::vector<double>& weights, double cval, std::byte* out, ElementType to);

// Each element of `out` is that of rank `rank`, from 0, among its window's. NaN comes last, -0
// before 0. Elements have 1, 2, 4 or 8 bytes, floats 4 or 8. `cval`: an element.
void WindowRank(const std::byte* x, Numbers numbers, size_t element_bytes,
                const WindowFilterShape& window, int64_t rank, const std::byte* cval,
                std::byte* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_WINDOW_FILTER_H_
