// From attributes of convolutions and pools to where windows are.
#ifndef GPUCALL_SERVER_PROGRAM_NETWORK_H_
#define GPUCALL_SERVER_PROGRAM_NETWORK_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct NetworkLowering {
  NetworkStep step;  // value numbers not set
  TensorType output;
};

// Operands are (x), or (x, weights) and then a bias. INVALID_ARGUMENT: their number, dtypes or
// shapes, or attributes; UNIMPLEMENTED: the dtype. All name the argument, what it was and what is
// allowed.
absl::StatusOr<NetworkLowering> LowerNetwork(const NetworkAttributes& attributes,
                                             absl::Span<const TensorType* const> operands);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_NETWORK_H_
