// From attributes of operations along axes to lines.
#ifndef GPUCALL_SERVER_PROGRAM_REDUCE_H_
#define GPUCALL_SERVER_PROGRAM_REDUCE_H_

#include "absl/status/statusor.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct ReduceLowering {
  ReduceStep step;  // value numbers not set
  TensorType output;
};

// INVALID_ARGUMENT: axes, parameter, no elements where that has no result; UNIMPLEMENTED: dtype.
// All name the argument, the value and what is allowed.
absl::StatusOr<ReduceLowering> LowerReduce(const ReduceAttributes& attributes, const TensorType& x);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_REDUCE_H_
