#include "server/program/rearrange_axes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/axes.h"
#include "server/program/catalogue.h"
#include "server/program/rearrange_parts.h"

namespace gpucall {
namespace {

using Attributes = RearrangeAttributes;

template <typename... Parts>
absl::Status Invalid(const Attributes& attributes, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(RowOf(attributes.kind).name, ": ", parts...));
}

Attributes ReshapeTo(const Shape& shape) {
  return {.kind = RearrangeKind::kReshape, .sizes = {shape.begin(), shape.end()}};
}

absl::StatusOr<Attributes> ExpandDims(const Attributes& attributes, const Shape& x) {
  const Axes axes = attributes.axes.value_or(Axes{});
  const size_t rank = x.size() + axes.size();
  if (rank > kMaxRank) {
    return Invalid(attributes, "result would have ", rank, " dimensions, allowed are ", kMaxRank);
  }
  GPUCALL_ASSIGN_OR_RETURN(const auto added, CheckedAxes("expand_dims", axes, rank));
  Shape shape;
  auto next = x.begin();
  for (size_t d = 0; d < rank; ++d) shape.push_back(added[d] ? 1 : *next++);
  return ReshapeTo(shape);
}

absl::StatusOr<Attributes> Squeeze(const Attributes& attributes, const Shape& x) {
  absl::InlinedVector<bool, kMaxRank> gone;
  for (const int64_t size : x) gone.push_back(size == 1);
  if (attributes.axes.has_value()) {
    GPUCALL_ASSIGN_OR_RETURN(gone, CheckedAxes("squeeze", *attributes.axes, x.size()));
  }
  Shape shape;
  for (size_t d = 0; d < x.size(); ++d) {
    if (gone[d] && x[d] != 1) {
      return Invalid(attributes, "dimension ", d, " of x of shape ", ShapeString(x), " has size ",
                     x[d], ", allowed is 1");
    }
    if (!gone[d]) shape.push_back(x[d]);
  }
  return ReshapeTo(shape);
}

absl::StatusOr<Attributes> MoveAxis(const Attributes& attributes, const Shape& x) {
  const Axes &from = *attributes.axes, &to = attributes.sizes;
  if (from.size() != to.size()) {
    return Invalid(attributes, "has ", from.size(), " axes in source and ", to.size(),
                   " in destination, allowed are as many");
  }
  GPUCALL_ASSIGN_OR_RETURN(const auto moved, CheckedAxes("moveaxis: source", from, x.size()));
  GPUCALL_RETURN_IF_ERROR(CheckedAxes("moveaxis: destination", to, x.size()).status());
  constexpr int64_t kOpen = -1;
  Axes order(x.size(), kOpen);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto rank = static_cast<int64_t>(x.size());
    order[static_cast<size_t>((to[i] + rank) % rank)] = (from[i] + rank) % rank;
  }
  auto open = order.begin();
  for (size_t d = 0; d < x.size(); ++d) {
    if (moved[d]) continue;
    open = std::find(open, order.end(), kOpen);
    *open = static_cast<int64_t>(d);
  }
  return Attributes{.kind = RearrangeKind::kTranspose, .axes = std::move(order)};
}

absl::StatusOr<Attributes> Unstack(const Attributes& attributes, const Shape& x) {
  GPUCALL_ASSIGN_OR_RETURN(const size_t axis,
                           CheckedAxis("unstack", (*attributes.axes)[0], x.size()));
  const int64_t index = attributes.sizes[0], count = attributes.sizes[1];
  if (count != x[axis]) {
    return Invalid(attributes, "count is ", count, ", for dimension ", axis, " of x of shape ",
                   ShapeString(x), " allowed is ", x[axis]);
  }
  if (index < 0 || index >= count) {
    return Invalid(attributes, "index is ", index, ", allowed are 0 to ", count - 1);
  }
  Attributes slice = {.kind = RearrangeKind::kSlice};
  slice.ranges.resize(axis + 1);
  slice.ranges[axis] = {.start = index, .drop = true};
  return slice;
}

// Elements of an axis that follow each other and have equal counts.
struct Run {
  int64_t first, size, repeats, output;  // where the axis of the result has them
};
struct Runs {
  std::vector<Run> runs;
  int64_t total = 0;  // size of the result's axis
};

absl::StatusOr<Runs> RunsOf(const Attributes& attributes, int64_t count) {
  constexpr int64_t kMaxRepeats = 1 << 16;
  const auto& repeats = attributes.sizes;
  const auto given = static_cast<int64_t>(repeats.size());
  if (given > kMaxRepeats || (given != 1 && given != count)) {
    return Invalid(attributes, "has ", given, " repeats, allowed are one, or one for each of ",
                   count, " elements, at most ", kMaxRepeats);
  }
  Runs result;
  for (int64_t i = 0, end = 0; i < given; i = end) {
    const int64_t times = repeats[static_cast<size_t>(i)];
    while (end < given && repeats[static_cast<size_t>(end)] == times) ++end;
    const int64_t size = given == 1 ? count : end - i;
    result.runs.push_back({i, size, times, result.total});
    int64_t more = 0;
    if (times < 0 || __builtin_mul_overflow(size, times, &more) ||
        __builtin_add_overflow(result.total, more, &result.total)) {
      return Invalid(attributes, "repeats of element ", i, " are ", times,
                     ", allowed is 0 to what 2^63 elements hold");
    }
  }
  return result;
}

}  // namespace

bool IsReshape(RearrangeKind kind) {
  return kind == RearrangeKind::kReshape || kind == RearrangeKind::kExpandDims ||
         kind == RearrangeKind::kSqueeze;
}

absl::StatusOr<RearrangeAttributes> Simplified(const RearrangeAttributes& attributes,
                                               const Shape& x) {
  switch (attributes.kind) {
    case RearrangeKind::kExpandDims:
      return ExpandDims(attributes, x);
    case RearrangeKind::kSqueeze:
      return Squeeze(attributes, x);
    case RearrangeKind::kMoveAxis:
      return MoveAxis(attributes, x);
    case RearrangeKind::kUnstack:
      return Unstack(attributes, x);
    default:
      return attributes;
  }
}

absl::StatusOr<RepeatParts> RepeatsOf(const RearrangeAttributes& attributes, const Shape& x) {
  const std::optional<int64_t> axis =
      attributes.axes.has_value() ? std::optional((*attributes.axes)[0]) : std::nullopt;
  GPUCALL_ASSIGN_OR_RETURN(const AxisLines lines, LinesAt("repeat", x, axis));
  GPUCALL_ASSIGN_OR_RETURN(const Runs runs, RunsOf(attributes, lines.count));
  RepeatParts result = {axis.has_value() ? x : Shape{0}, {}};
  result.shape[lines.dimension] = runs.total;
  GPUCALL_RETURN_IF_ERROR(CheckedSizeBytes("repeat", DType::kUint8, result.shape).status());
  if (ElementCount(result.shape) == 0) return result;
  for (const Run& run : runs.runs) {
    if (run.repeats == 0) continue;
    RearrangeStep::Part part = {0, run.first * lines.inner, run.output * lines.inner, {}, {}, {}};
    AppendDimension(lines.outer, lines.count * lines.inner, runs.total * lines.inner, part);
    AppendDimension(run.size, lines.inner, run.repeats * lines.inner, part);
    AppendDimension(run.repeats, 0, lines.inner, part);
    AppendDimension(lines.inner, 1, 1, part);
    result.parts.push_back(std::move(part));
  }
  return result;
}

}  // namespace gpucall
