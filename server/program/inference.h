// dtype and shape of an operation's result.
#ifndef GPUCALL_SERVER_PROGRAM_INFERENCE_H_
#define GPUCALL_SERVER_PROGRAM_INFERENCE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/program.h"

namespace gpucall {

// The result's type for operands of the given types.
// INVALID_ARGUMENT: number of operands, shapes, attributes. UNIMPLEMENTED: dtype not offered.
absl::StatusOr<TensorType> InferType(const Operation& operation,
                                     absl::Span<const TensorType* const> operands);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_INFERENCE_H_
