// Rearrangements that are others by other names, once the shape is known; and repeats.
#ifndef GPUCALL_SERVER_PROGRAM_REARRANGE_AXES_H_
#define GPUCALL_SERVER_PROGRAM_REARRANGE_AXES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/shape.h"
#include "server/program/plan.h"

namespace gpucall {

// Whether it moves no elements: its value is the input's.
bool IsReshape(RearrangeKind kind);

// The reshape, transpose or slice that expand_dims, squeeze, moveaxis and unstack of an `x` of this
// shape are; others as they are. INVALID_ARGUMENT naming the argument, the value and what is
// allowed.
absl::StatusOr<RearrangeAttributes> Simplified(const RearrangeAttributes& attributes,
                                               const Shape& x);

// The result of a repeat, and where its elements come from: a part for each stretch of elements
// that have equal counts. INVALID_ARGUMENT as above.
struct RepeatParts {
  Shape shape;
  std::vector<RearrangeStep::Part> parts;
};
absl::StatusOr<RepeatParts> RepeatsOf(const RearrangeAttributes& attributes, const Shape& x);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_REARRANGE_AXES_H_
