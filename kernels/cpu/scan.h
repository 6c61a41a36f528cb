// Sums and products of the elements so far, along lines.
#ifndef GPUCALL_KERNELS_CPU_SCAN_H_
#define GPUCALL_KERNELS_CPU_SCAN_H_

#include <cstddef>
#include <cstdint>

#include "kernels/numbers.h"

namespace gpucall::cpu {

enum class ScanOp : uint8_t { kSum, kProd };

// Lines of `count` elements: element e of line (o, i), o below outer and i below inner, is number
// (o * count + e) * inner + i, of x and of `out`.
struct ScanShape {
  int64_t outer, count, inner;
};

// Element e of a line of `out` is the sum or product of elements 0 .. e of x, in this order.
// Integers of 1, 2, 4 or 8 bytes and bools give 8 bytes, signed or not, and wrap; floats of 4 or 8
// bytes are accumulated in float64, and each result is rounded to their own size. `x` needs no
// alignment, `out` that of its type.
void Scan(ScanOp op, const std::byte* x, Numbers numbers, size_t element_bytes,
          const ScanShape& shape, std::byte* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_SCAN_H_
