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

// The window's elements that take part, in row-major order: a coordinate relative to the output's
// for each dimension, one element after another. Of no dimensions: one of size 1.
inline std::vector<int64_t> OffsetsOf(const WindowFilterAttributes& window) {
  const int64_t count = ElementCount(window.size);
  const size_t rank = window.size.size();
  if (rank == 0) return {0};
  std::vector<int64_t> offsets;
  Shape at(rank, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t d = rank; d-- > 0; rest /= window.size[d]) at[d] = rest % window.size[d];
    if (!window.footprint.empty() && window.footprint[static_cast<size_t>(i)] == 0) continue;
    for (size_t d = 0; d < rank; ++d) offsets.push_back(at[d] - window.before[d]);
  }
  return offsets;
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_FILTER_FORMS_H_
