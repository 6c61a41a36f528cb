// From attributes of operations along axes to lines.
#ifndef GPUCALL_SERVER_PROGRAM_REDUCE_H_
#define GPUCALL_SERVER_PROGRAM_REDUCE_H_

#include "absl/status/statusor.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

// The dtype that elements of `dtype`, which is no complex one, are converted to first: those whose
// kernels there are stay as they are, narrower integers become int32, uint32 uint64, and float16
// and bfloat16 float32.
DType ReducedIn(DType dtype);
// The dtype of the result.
DType ReduceResult(ReduceOp op, DType dtype);

struct ReduceLowering {
  ReduceStep step;  // value numbers not set
  TensorType output;
};

// INVALID_ARGUMENT: axes, parameter, no elements where that has no result; UNIMPLEMENTED: dtype.
// All name the argument, the value and what is allowed.
absl::StatusOr<ReduceLowering> LowerReduce(const ReduceAttributes& attributes, const TensorType& x);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_REDUCE_H_
