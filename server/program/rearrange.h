// From attributes of rearrangements to the parts that are copied.
#ifndef GPUCALL_SERVER_PROGRAM_REARRANGE_H_
#define GPUCALL_SERVER_PROGRAM_REARRANGE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct RearrangeLowering {
  RearrangeStep step;  // output not set; inputs of parts are indices of `inputs`
  TensorType output;
};

// A reshape has no parts. INVALID_ARGUMENT naming the argument, the value and what is allowed.
absl::StatusOr<RearrangeLowering> LowerRearrange(const RearrangeAttributes& attributes,
                                                 absl::Span<const TensorType* const> inputs);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_REARRANGE_H_
