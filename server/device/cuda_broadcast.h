// How a step walks several operands of different shapes together.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_BROADCAST_H_
#define GPUCALL_SERVER_DEVICE_CUDA_BROADCAST_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace gpucall {

// Dimensions, outermost first, and the strides of each operand along them.
struct StridedShape {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;  // by operand

  size_t rank() const { return sizes.size(); }
  void AddOuter(int64_t size, absl::Span<const int64_t> operand_strides);
};

// Strides, in elements, of a dense operand that is broadcast to `shape`: 0 along the dimensions
// that it is repeated in. REQUIRES: NumPy broadcasting accepts it.
std::vector<int64_t> BroadcastStrides(absl::Span<const int64_t> operand,
                                      absl::Span<const int64_t> shape);

// The same walk in as few dimensions as possible: those of size 1 are left out, and neighbours that
// every operand passes through evenly become one.
StridedShape Collapse(const StridedShape& shape);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_BROADCAST_H_
