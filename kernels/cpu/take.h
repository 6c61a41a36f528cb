// Elements by their indices.
#ifndef GPUCALL_KERNELS_CPU_TAKE_H_
#define GPUCALL_KERNELS_CPU_TAKE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gpucall::cpu {

// The results' sizes and, in elements, x's and the indices' strides along them, outermost first; an
// index is of `size` places in x that are `stride` apart.
struct TakeShape {
  std::span<const int64_t> sizes, x_strides, index_strides;
  int64_t size, stride;
};

// For all coordinates in order, the next element of `out` becomes that of `x` at
// coordinates * x_strides + i * stride, where i is that of `indices` at coordinates *
// index_strides; of a negative one, i + size. Elements have 1, 2, 4, 8 or 16 bytes, indices 4 or 8.
// Nothing needs alignment. Returns the first index that is not one of `size` places: then `out` is
// not done.
std::optional<int64_t> Take(const std::byte* x, size_t element_bytes, const std::byte* indices,
                            size_t index_bytes, const TakeShape& shape, std::byte* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_TAKE_H_
