// Shapes with overflow-safe sizes.
#ifndef GPUCALL_SERVER_BASE_SHAPE_H_
#define GPUCALL_SERVER_BASE_SHAPE_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/dtype.h"

namespace gpucall {

inline constexpr int kMaxRank = 8;

// Sizes, outermost first; empty is 0-d.
using Shape = absl::InlinedVector<int64_t, kMaxRank>;

// "(2, 3)"; "()" for 0-d; long shapes are cut.
std::string ShapeString(absl::Span<const int64_t> shape);

// Bytes of a dense tensor. INVALID_ARGUMENT, naming `what`: over kMaxRank dimensions, a negative
// size, or a size in bytes past 2^63 - 1.
absl::StatusOr<int64_t> CheckedSizeBytes(absl::string_view what, DType dtype,
                                         absl::Span<const int64_t> shape);

// Product of the sizes. REQUIRES: CheckedSizeBytes accepted the shape.
int64_t ElementCount(absl::Span<const int64_t> shape);

// NumPy broadcasting. INVALID_ARGUMENT naming both shapes where they do not match.
absl::StatusOr<Shape> BroadcastShapes(absl::Span<const int64_t> a, absl::Span<const int64_t> b);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_BASE_SHAPE_H_
