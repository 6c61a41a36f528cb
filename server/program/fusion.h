// Groups a Program's operations into steps: elementwise operations of one shape that can run
// together become one step.
#ifndef GPUCALL_SERVER_PROGRAM_FUSION_H_
#define GPUCALL_SERVER_PROGRAM_FUSION_H_

#include <vector>

#include "absl/types/span.h"
#include "server/program/plan.h"

namespace gpucall {

// Steps, in an order that runs each after those it reads from. Operations that no output needs are
// left out. `values` are the inferred types of all values of the Program; the Program has been
// checked.
std::vector<Step> MakeSteps(const Program& program, absl::Span<const TensorType> values,
                            absl::Span<const uint32_t> roots);

// Plan::roots.
std::vector<uint32_t> RootsOf(const Program& program);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_FUSION_H_
