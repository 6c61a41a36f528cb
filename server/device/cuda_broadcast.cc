#include "server/device/cuda_broadcast.h"

#include <cstddef>

namespace gpucall {

void StridedShape::AddOuter(int64_t size, absl::Span<const int64_t> operand_strides) {
  sizes.insert(sizes.begin(), size);
  strides.resize(operand_strides.size());
  for (size_t i = 0; i < operand_strides.size(); ++i) {
    strides[i].insert(strides[i].begin(), operand_strides[i]);
  }
}

std::vector<int64_t> BroadcastStrides(absl::Span<const int64_t> operand,
                                      absl::Span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t d = 1; d <= operand.size(); ++d) {
    const int64_t size = operand[operand.size() - d];
    if (size != 1) strides[shape.size() - d] = stride;
    stride *= size;
  }
  return strides;
}

StridedShape Collapse(const StridedShape& shape) {
  StridedShape result;
  result.strides.resize(shape.strides.size());
  for (size_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.sizes[d];
    if (size == 1) continue;
    bool even = result.rank() > 0;
    for (size_t i = 0; i < shape.strides.size() && even; ++i) {
      even = result.strides[i].back() == shape.strides[i][d] * size;
    }
    if (even) {
      result.sizes.back() *= size;
    } else {
      result.sizes.push_back(size);
    }
    for (size_t i = 0; i < shape.strides.size(); ++i) {
      if (even) result.strides[i].pop_back();
      result.strides[i].push_back(shape.strides[i][d]);
    }
  }
  return result;
}

}  // namespace gpucall
