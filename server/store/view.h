// Tensors on the elements of other tensors.
#ifndef GPUCALL_SERVER_STORE_VIEW_H_
#define GPUCALL_SERVER_STORE_VIEW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"

namespace gpucall {

// A dense tensor whose elements are those of another from `offset_bytes` on.
struct ViewType {
  TensorType type;
  int64_t offset_bytes = 0;
};

// INVALID_ARGUMENT: a shape that CheckedSizeBytes refuses, or with another number of elements.
absl::StatusOr<ViewType> ReshapeView(const TensorType& of, absl::Span<const int64_t> shape);

// Elements start[i] <= index < stop[i] of axis i; axes past the end of both are whole.
// INVALID_ARGUMENT: start and stop of unlike lengths, more of them than axes, a bound outside the
// axis, or a stop below its start. UNIMPLEMENTED: the elements do not lie together.
absl::StatusOr<ViewType> SliceView(const TensorType& of, absl::Span<const int64_t> start,
                                   absl::Span<const int64_t> stop);

// Axis i of the result is axis axes[i]. INVALID_ARGUMENT: not a permutation of the axes.
// UNIMPLEMENTED: elements would move.
absl::StatusOr<ViewType> TransposeView(const TensorType& of, absl::Span<const uint32_t> axes);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_VIEW_H_
