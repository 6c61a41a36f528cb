// Filters that are made of several operations.
#ifndef GPUCALL_SERVER_PROGRAM_COMPOSITE_H_
#define GPUCALL_SERVER_PROGRAM_COMPOSITE_H_

#include <vector>

#include "server/base/dtype.h"
#include "server/program/program.h"

namespace gpucall {

// The operations that together are `operation`: itself, unless it is a composite filter. The first
// makes value number `next`, each one more; the last makes the result. `image` is the dtype of a
// filter's image. REQUIRES: InferType accepts the operation.
std::vector<Operation> Expand(const Operation& operation, DType image, uint32_t next);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_COMPOSITE_H_
