// Filters of signals as the operations that they are made of.
#ifndef GPUCALL_SERVER_PROGRAM_SIGNAL_COMPOSITE_H_
#define GPUCALL_SERVER_PROGRAM_SIGNAL_COMPOSITE_H_

#include <vector>

#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/program.h"

namespace gpucall {

// Of `operation`, which has SignalAttributes: what brings x and zi to the dtypes and shapes that
// steps take, recurrences of at most four sections, and the result in its dtype; an FIR filter of
// real numbers from rest is a filter along lines. `values`: of the operations before. The first
// makes value number `next`, each one more; the last makes the result. REQUIRES: InferType accepts
// the operation.
std::vector<Operation> ExpandSignal(const Operation& operation, absl::Span<const TensorType> values,
                                    uint32_t next);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_SIGNAL_COMPOSITE_H_
