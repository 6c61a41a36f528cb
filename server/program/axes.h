// Axes as callers name them, and the lines that run along them.
#ifndef GPUCALL_SERVER_PROGRAM_AXES_H_
#define GPUCALL_SERVER_PROGRAM_AXES_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/shape.h"

namespace gpucall {

// The dimension that `axis` stands for. INVALID_ARGUMENT naming `name`, the axis and what is
// allowed.
absl::StatusOr<size_t> CheckedAxis(absl::string_view name, int64_t axis, size_t rank);
// Whether each dimension is among `axes`. INVALID_ARGUMENT also for one given twice.
absl::StatusOr<absl::InlinedVector<bool, kMaxRank>> CheckedAxes(absl::string_view name,
                                                                absl::Span<const int64_t> axes,
                                                                size_t rank);

// Elements of a dense tensor by coordinates: sizes and strides (in elements), outermost first,
// in as few dimensions as they need; none: one element.
struct Walk {
  absl::InlinedVector<int64_t, kMaxRank> sizes, strides;

  int64_t count() const { return ElementCount(sizes); }
  size_t rank() const { return sizes.size(); }
  // A further, inner dimension; merged with the one before where both pass through evenly.
  void Append(int64_t size, int64_t stride);
  bool operator==(const Walk&) const = default;
};

// A tensor's lines along some of its dimensions: where they start, and their elements.
struct Lines {
  Walk starts, elements;
};
Lines LinesAlong(absl::Span<const int64_t> shape, absl::Span<const bool> along);

// A tensor's lines along one dimension: element e of line (o, i) is number (o * count + e) * inner
// + i. Of the flattened tensor there is one.
struct AxisLines {
  size_t dimension;
  int64_t outer, count, inner;
  int64_t line_count() const { return outer * inner; }
};
// `axis`: none is of the flattened tensor. Errors: CheckedAxis's.
absl::StatusOr<AxisLines> LinesAt(absl::string_view name, absl::Span<const int64_t> shape,
                                  std::optional<int64_t> axis);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_AXES_H_
