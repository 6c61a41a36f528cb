// Arrays made from numbers alone.
#ifndef GPUCALL_SERVER_PROGRAM_CREATION_H_
#define GPUCALL_SERVER_PROGRAM_CREATION_H_

#include <vector>

#include "absl/status/status.h"
#include "server/program/plan.h"

namespace gpucall {

// INVALID_ARGUMENT: shape, value, range or numbers; UNIMPLEMENTED: dtype. Both name the argument,
// the value and what is allowed.
absl::Status CheckCreation(const CreationAttributes& attributes);
// REQUIRES: CheckCreation accepts them, and no dtype that ExpandCreation replaces.
Step LowerCreation(const CreationAttributes& attributes, uint32_t output);
// As Expand: float16 and bfloat16 are made as float32.
std::vector<Operation> ExpandCreation(const Operation& operation, uint32_t next);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_CREATION_H_
