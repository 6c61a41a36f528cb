// What both devices take of the forms that filters over axes are made of.
#ifndef GPUCALL_SERVER_DEVICE_FILTER_FORMS_H_
#define GPUCALL_SERVER_DEVICE_FILTER_FORMS_H_

#include <cstdint>
#include <vector>

#include "kernels/border.h"
#include "server/program/filter_attributes.h"

namespace gpucall {

inline BorderRule BorderRuleOf(BorderMode mode) {
  switch (mode) {
    case BorderMode::kNearest:
      return BorderRule::kNearest;
    case BorderMode::kReflect:
      return BorderRule::kReflect;
    case BorderMode::kMirror:
      return BorderRule::kMirror;
    case BorderMode::kWrap:
      return BorderRule::kWrap;
    case BorderMode::kConstant:
      break;
  }
  return BorderRule::kConstant;
}

// A window's elements that take part, in its row-major order: their coordinates relative to the
// output's, one for each dimension of an array of `rank` (1 or more) dimensions.
inline std::vector<int64_t> OffsetsOf(const WindowFilterAttributes& window, size_t rank) {
  const int64_t count = ElementCount(window.size);
  std::vector<int64_t> offsets, at(rank, 0);
  for (int64_t i = 0; i < count; ++i) {
    if (!window.footprint.empty() && window.footprint[static_cast<size_t>(i)] == 0) continue;
    int64_t rest = i;
    for (size_t d = window.size.size(); d-- > 0; rest /= window.size[d]) {
      at[static_cast<size_t>(window.axes[d])] = rest % window.size[d] - window.before[d];
    }
    offsets.insert(offsets.end(), at.begin(), at.end());
  }
  return offsets;
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_FILTER_FORMS_H_
