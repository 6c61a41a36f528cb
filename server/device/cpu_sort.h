// Sorts on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_SORT_H_
#define GPUCALL_SERVER_DEVICE_CPU_SORT_H_

#include "absl/status/status.h"
#include "server/device/cpu_memory.h"
#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output. Works in `memory`, for the caller to rewind. RESOURCE_EXHAUSTED: no memory.
absl::Status RunSort(const SortStep& step, const CpuValues& values, CpuMemory& memory);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_SORT_H_
