// Convolutions and pools of images.
#ifndef GPUCALL_KERNELS_CPU_NETWORK_H_
#define GPUCALL_KERNELS_CPU_NETWORK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/element_type.h"

namespace gpucall::cpu {

// Sizes and, of pairs, (rows, columns). Output element (image, channel, y, x) is of the elements at
// y * stride + i * dilation - before of the input's rows, for i below `size`, likewise of its
// columns. Outside there are zeros, or, for pools, nothing.
struct WindowShape {
  int64_t images, channels, rows, columns;
  int64_t out_channels, out_rows, out_columns;
  std::array<int64_t, 2> size, stride, dilation, before, after;
  int64_t groups = 1;
  bool channels_last = false;  // else images x channels x rows x columns, of x and out
};

// Elements of one type: kFloat16, kBfloat16 (sums in float32), kFloat32 or kFloat64. Nothing needs
// alignment; `out` overlaps no operand.

// `weights`: out_channels x channels / groups x size; `bias`: out_channels, or null. Uses several
// threads for large ones. False: a matrix is past the BLAS's integers (2^31 - 1).
bool Convolve2d(const WindowShape& shape, ElementType type, const std::byte* x,
                const std::byte* weights, const std::byte* bias, std::byte* out);

// The largest element of a window, NaN where there is one, -infinity where there is none.
void MaxPool2d(const WindowShape& shape, ElementType type, const std::byte* x, std::byte* out);
// The mean of a window's elements, NaN where there is none. `count_padding`: of those in the padded
// image, where zeros surround it.
enum class CountPadding : uint8_t { kNo, kYes };
void AvgPool2d(const WindowShape& shape, ElementType type, CountPadding padding, const std::byte* x,
               std::byte* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_NETWORK_H_
