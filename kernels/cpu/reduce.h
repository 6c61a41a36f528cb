// Operations along axes.
#ifndef GPUCALL_KERNELS_CPU_REDUCE_H_
#define GPUCALL_KERNELS_CPU_REDUCE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/element_type.h"

namespace gpucall::cpu {

// Sizes and strides (elements), outermost first.
struct Dimensions {
  std::span<const int64_t> sizes, strides;
};

// Lines that start at the elements of `starts`; a line is the elements of `elements` from there.
struct LineShape {
  Dimensions starts, elements;
};

// out[i] = the operation of row `row` of kernels/reduce_ops.def on the elements of line i, dense;
// of a row with an element for each, out has the shape of x. `x` needs no alignment, `out` that of
// its type. The same elements give the same bits whatever instruction set the machine has. No
// lines: nothing is written.
void Reduce(size_t row, double parameter, const void* x, ElementType type, const LineShape& lines,
            void* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_REDUCE_H_
