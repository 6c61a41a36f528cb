// Filters, comparisons, products, reductions and scans that are made of several operations.
#ifndef GPUCALL_SERVER_PROGRAM_COMPOSITE_H_
#define GPUCALL_SERVER_PROGRAM_COMPOSITE_H_

#include <vector>

#include "absl/types/span.h"
#include "server/base/dtype.h"
#include "server/program/program.h"

namespace gpucall {

// The operations that together are `operation`: itself, unless it is a composite filter, compares
// int64 with uint64, reduces a dtype that has no kernels (ReducedIn), scans or makes halves, or is
// a product that ExpandMatMul divides. The first makes value number `next`, each one more; the last
// makes the result. `operands` are the dtypes of the inputs. REQUIRES: InferType accepts the
// operation.
std::vector<Operation> Expand(const Operation& operation, absl::Span<const DType> operands,
                              uint32_t next);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_COMPOSITE_H_
