// From an operation that is not elementwise to its step.
#ifndef GPUCALL_SERVER_PROGRAM_LOWER_OPERATION_H_
#define GPUCALL_SERVER_PROGRAM_LOWER_OPERATION_H_

#include <cstdint>

#include "absl/types/span.h"
#include "server/program/plan.h"

namespace gpucall {

// `values`: the types of all values of the Program. REQUIRES: InferType accepts the operation, and
// Expand has nothing to replace it with.
Step LowerOperation(const Operation& operation, absl::Span<const TensorType> values,
                    uint32_t output);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_LOWER_OPERATION_H_
