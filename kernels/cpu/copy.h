// Copies of elements between strided places.
#ifndef GPUCALL_KERNELS_CPU_COPY_H_
#define GPUCALL_KERNELS_CPU_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpucall::cpu {

// For all coordinates below `sizes`, which are not 0, the element of `element_bytes` (1, 2, 4, 8 or
// 16) at out + coordinates * output_strides becomes that at x + coordinates * input_strides.
// Strides are in elements; outermost first. Neither needs alignment; they do not overlap.
void CopyStrided(const std::byte* x, std::byte* out, size_t element_bytes,
                 std::span<const int64_t> sizes, std::span<const int64_t> input_strides,
                 std::span<const int64_t> output_strides);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_COPY_H_
