// Elementwise steps on the CPU: one blocked pass over memory for all instructions.
#ifndef GPUCALL_SERVER_DEVICE_CPU_ELEMENTWISE_H_
#define GPUCALL_SERVER_DEVICE_CPU_ELEMENTWISE_H_

#include "absl/status/status.h"
#include "server/device/cpu_memory.h"
#include "server/device/cpu_values.h"

namespace gpucall {

// Writes the step's output values. Takes working memory (tens of KiB) from `memory`, for the caller
// to rewind. INVALID_ARGUMENT: a negative exponent of an integer power. RESOURCE_EXHAUSTED: no
// memory.
absl::Status RunElementwise(const ElementwiseStep& step, const CpuValues& values,
                            CpuMemory& memory);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_ELEMENTWISE_H_
