// From attributes of takes to where elements are.
#ifndef GPUCALL_SERVER_PROGRAM_TAKE_H_
#define GPUCALL_SERVER_PROGRAM_TAKE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct TakeLowering {
  TakeStep step;  // value numbers not set
  TensorType output;
};

// INVALID_ARGUMENT: axis, shapes, elements of an axis that has none; UNIMPLEMENTED: dtype of the
// indices. All name the argument, the value and what is allowed.
absl::StatusOr<TakeLowering> LowerTake(const TakeAttributes& attributes, const TensorType& x,
                                       const TensorType& indices);

// INVALID_ARGUMENT, of an index that is not one of the step's axis.
absl::Status IndexOutOfRange(const TakeStep& step, int64_t index);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_TAKE_H_
