// What lies outside an array.
#ifndef GPUCALL_KERNELS_BORDER_H_
#define GPUCALL_KERNELS_BORDER_H_

#include <cstdint>

namespace gpucall {

// scipy.ndimage's modes.
enum class BorderRule : uint8_t { kNearest, kReflect, kMirror, kWrap, kConstant };

// The index from 0 to size - 1 whose element stands at `index`; -1: the constant. REQUIRES: size >=
// 1. For host and device.
constexpr int64_t InsideIndex(int64_t index, int64_t size, BorderRule rule) {
  if (index >= 0 && index < size) return index;
  if (rule == BorderRule::kConstant) return -1;
  if (rule == BorderRule::kNearest) return index < 0 ? 0 : size - 1;
  if (rule == BorderRule::kMirror && size == 1) return 0;
  int64_t period = size;
  if (rule == BorderRule::kReflect) period = 2 * size;
  if (rule == BorderRule::kMirror) period = 2 * size - 2;
  int64_t place = index % period;
  if (place < 0) place += period;
  if (place < size) return place;
  return rule == BorderRule::kReflect ? period - 1 - place : period - place;
}

}  // namespace gpucall

#endif  // GPUCALL_KERNELS_BORDER_H_
