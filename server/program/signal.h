// From attributes of filters of signals to recurrences along lines.
#ifndef GPUCALL_SERVER_PROGRAM_SIGNAL_H_
#define GPUCALL_SERVER_PROGRAM_SIGNAL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct SignalLowering {
  SignalStep step;  // value numbers not set
  TensorType output;
  Shape state;  // of zi, where sizes of 1 have been broadcast
};

// Operands are (x) or (x, zi). INVALID_ARGUMENT: their number, dtypes or shapes, or attributes; the
// message names the argument, what it was and what is allowed. The step is right for an x of
// float32, float64, complex64 or complex128 and a zi of x's kind, 64 bits wide, of the state's
// shape.
absl::StatusOr<SignalLowering> LowerSignal(const SignalAttributes& attributes,
                                           absl::Span<const TensorType* const> operands);

// The dtype of the result for an x of `x`: x's, float64 of integers and bools.
DType SignalResult(DType x);

// Takes the output of `step`, a signal or states, into a step among `steps` that filters the same
// signal and has no such output yet. False: there is none.
bool JoinSignal(const SignalStep& step, std::vector<Step>& steps);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_SIGNAL_H_
