#include "server/base/shape.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gpucall {

std::string ShapeString(absl::Span<const int64_t> shape) {
  constexpr size_t kShown = 16;
  if (shape.size() <= kShown) return absl::StrCat("(", absl::StrJoin(shape, ", "), ")");
  return absl::StrCat("(", absl::StrJoin(shape.first(kShown), ", "), ", ... ", shape.size(),
                      " dimensions)");
}

absl::StatusOr<int64_t> CheckedSizeBytes(absl::string_view what, DType dtype,
                                         absl::Span<const int64_t> shape) {
  if (shape.size() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, ": shape has ", shape.size(), " dimensions, at most ", kMaxRank, " are allowed"));
  }
  int64_t size = static_cast<int64_t>(ElementSize(dtype));
  bool overflow = false, empty = false;
  for (int64_t dimension : shape) {
    if (dimension < 0) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": shape ", ShapeString(shape),
                                                     " has the negative dimension ", dimension,
                                                     ", sizes are 0 or more"));
    }
    empty |= dimension == 0;
    overflow |= __builtin_mul_overflow(size, std::max<int64_t>(dimension, 1), &size);
  }
  if (overflow) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": shape ", ShapeString(shape), " of ",
                                                   DTypeName(dtype), " is larger than 2^63 bytes"));
  }
  return empty ? 0 : size;
}

int64_t ElementCount(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t dimension : shape) {
    if (dimension == 0) return 0;
    count *= dimension;
  }
  return count;
}

absl::StatusOr<Shape> BroadcastShapes(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t i = 0; i < rank; ++i) {  // i counts from the innermost dimension
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("shapes ", ShapeString(a), " and ", ShapeString(b),
                       " do not broadcast: ", da, " against ", db, " in dimension ", rank - 1 - i));
    }
    result[rank - 1 - i] = da == 1 ? db : da;
  }
  return result;
}

}  // namespace gpucall
