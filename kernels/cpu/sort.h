// Sorts of lines.
#ifndef GPUCALL_KERNELS_CPU_SORT_H_
#define GPUCALL_KERNELS_CPU_SORT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/sort_keys.h"

namespace gpucall::cpu {

// Lines of `count` elements: element e of line (o, i), o below outer and i below inner, is number
// (o * count + e) * inner + i.
struct SortShape {
  int64_t outer, count, inner;
  int64_t kept;  // of each line's order the first so many are the result; at most count
};
enum class SortResult : uint8_t { kElements, kIndices };  // indices: int64, from 0 in each line

size_t SortScratchBytes(int64_t count);

// Orders each line by its elements' keys, equal ones as they were; result r of line (o, i) is
// number (o * kept + r) * inner + i of `out`. Elements have 1, 2, 4 or 8 bytes. `x` needs no
// alignment; `scratch`, of SortScratchBytes(shape.count), and `out` are aligned to 8.
void Sort(const std::byte* x, size_t element_bytes, const sort::KeyRule& rule,
          const SortShape& shape, SortResult result, std::byte* scratch, std::byte* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_SORT_H_
