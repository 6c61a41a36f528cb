#include "server/program/axes.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {

absl::StatusOr<size_t> CheckedAxis(absl::string_view name, int64_t axis, size_t rank) {
  const int64_t count = static_cast<int64_t>(rank);
  if (axis >= -count && axis < count) return static_cast<size_t>(axis < 0 ? axis + count : axis);
  if (rank == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": axis is ", axis, ", a 0-d tensor has none"));
  }
  return absl::InvalidArgumentError(absl::StrCat(name, ": axis is ", axis, ", for ", rank,
                                                 " dimensions allowed are ", -count, " to ",
                                                 count - 1));
}

absl::StatusOr<absl::InlinedVector<bool, kMaxRank>> CheckedAxes(absl::string_view name,
                                                                absl::Span<const int64_t> axes,
                                                                size_t rank) {
  absl::InlinedVector<bool, kMaxRank> among(rank, false);
  for (int64_t axis : axes) {
    GPUCALL_ASSIGN_OR_RETURN(const size_t dimension, CheckedAxis(name, axis, rank));
    if (among[dimension]) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": axis ", axis, " (dimension ",
                                                     dimension,
                                                     ") is given twice, allowed is each once"));
    }
    among[dimension] = true;
  }
  return among;
}

void Walk::Append(int64_t size, int64_t stride) {
  if (size == 1) return;
  if (rank() > 0 && strides.back() == size * stride) {
    sizes.back() *= size;
    strides.back() = stride;
    return;
  }
  sizes.push_back(size);
  strides.push_back(stride);
}

Lines LinesAlong(absl::Span<const int64_t> shape, absl::Span<const bool> along) {
  Lines lines;
  int64_t stride = ElementCount(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    stride = shape[d] == 0 ? 0 : stride / shape[d];
    (along[d] ? lines.elements : lines.starts).Append(shape[d], stride);
  }
  return lines;
}

absl::StatusOr<AxisLines> LinesAt(absl::string_view name, absl::Span<const int64_t> shape,
                                  std::optional<int64_t> axis) {
  if (!axis.has_value()) return AxisLines{0, 1, ElementCount(shape), 1};
  GPUCALL_ASSIGN_OR_RETURN(const size_t d, CheckedAxis(name, *axis, shape.size()));
  return AxisLines{d, ElementCount(shape.first(d)), shape[d], ElementCount(shape.subspan(d + 1))};
}

}  // namespace gpucall
