#include "server/store/view.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

absl::Status CheckBounds(const TensorType& of, absl::Span<const int64_t> start,
                         absl::Span<const int64_t> stop) {
  if (start.size() != stop.size() || start.size() > of.shape.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "slice: start has ", start.size(), " and stop ", stop.size(),
        " bounds, allowed is the same number, up to ", of.shape.size(), " of the tensor's axes"));
  }
  for (size_t i = 0; i < start.size(); ++i) {
    if (start[i] < 0 || stop[i] < start[i] || stop[i] > of.shape[i]) {
      return absl::InvalidArgumentError(absl::StrCat("slice: axis ", i, " is ", start[i], " to ",
                                                     stop[i], ", allowed are 0 to ", of.shape[i],
                                                     ", start first"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ViewType> ReshapeView(const TensorType& of, absl::Span<const int64_t> shape) {
  GPUCALL_ASSIGN_OR_RETURN(const int64_t size_bytes, CheckedSizeBytes("reshape", of.dtype, shape));
  if (size_bytes != of.size_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("reshape: ", ShapeString(shape), " has not the ",
                                                   of.count(), " elements of ",
                                                   ShapeString(of.shape)));
  }
  return ViewType{{of.dtype, Shape(shape.begin(), shape.end())}};
}

absl::StatusOr<ViewType> SliceView(const TensorType& of, absl::Span<const int64_t> start,
                                   absl::Span<const int64_t> stop) {
  GPUCALL_RETURN_IF_ERROR(CheckBounds(of, start, stop));
  ViewType view = {of};
  for (size_t i = 0; i < start.size(); ++i) view.type.shape[i] = stop[i] - start[i];
  if (view.type.count() == 0) return view;
  int64_t stride = static_cast<int64_t>(ElementSize(of.dtype));  // bytes
  bool cut = false;  // an axis inside this one has lost elements
  for (size_t i = of.shape.size(); i-- > 0;) {
    if (cut && view.type.shape[i] != 1) {
      return absl::UnimplementedError(
          absl::StrCat("slice: ", ShapeString(view.type.shape), " of ", ShapeString(of.shape),
                       " does not lie together: axis ", i,
                       " has more than one element and an axis after it is cut"));
    }
    cut |= view.type.shape[i] != of.shape[i];
    if (i < start.size()) view.offset_bytes += start[i] * stride;
    stride *= of.shape[i];
  }
  return view;
}

absl::StatusOr<ViewType> TransposeView(const TensorType& of, absl::Span<const uint32_t> axes) {
  const auto error = [&](auto make, absl::string_view why) {
    return make(absl::StrCat("transpose: axes (", absl::StrJoin(axes, ", "), ") of ",
                             ShapeString(of.shape), ": ", why));
  };
  std::vector<bool> seen(of.shape.size());
  bool permutation = axes.size() == of.shape.size();
  for (const uint32_t axis : axes) {
    permutation = permutation && axis < seen.size() && !seen[axis];
    if (permutation) seen[axis] = true;
  }
  if (!permutation) return error(absl::InvalidArgumentError, "each axis must be there once");
  ViewType view = {of};
  int64_t last = -1;  // the last axis met that has more than one element
  bool moves = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    view.type.shape[i] = of.shape[axes[i]];
    if (view.type.shape[i] == 1) continue;
    moves |= int64_t{axes[i]} < last;
    last = axes[i];
  }
  if (moves && of.count() > 0) {
    return error(absl::UnimplementedError, "elements would move, which a view cannot do");
  }
  return view;
}

}  // namespace gpucall
