// From attributes of sorts to lines.
#ifndef GPUCALL_SERVER_PROGRAM_SORT_H_
#define GPUCALL_SERVER_PROGRAM_SORT_H_

#include "absl/status/statusor.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct SortLowering {
  SortStep step;  // value numbers not set
  TensorType output;
};

// INVALID_ARGUMENT: axis, count; UNIMPLEMENTED: dtype, a line of over 2^31 - 1 elements. All name
// the argument, the value and what is allowed.
absl::StatusOr<SortLowering> LowerSort(const SortAttributes& attributes, const TensorType& x);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_SORT_H_
