// Steps of a task on the CPU, one function for each kind.
#ifndef GPUCALL_SERVER_DEVICE_CPU_STEP_H_
#define GPUCALL_SERVER_DEVICE_CPU_STEP_H_

#include "absl/status/status.h"
#include "server/device/cpu_memory.h"
#include "server/device/cpu_values.h"

namespace gpucall {

// Write the step's output values. Working memory comes from `memory`, for the caller to rewind.
// RESOURCE_EXHAUSTED: no memory. INVALID_ARGUMENT: elements that the operation refuses (negative
// exponents of integer powers, indices out of range), sizes of products and
// convolutions past 2^31 - 1.
absl::Status RunOnCpu(const ElementwiseStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const MatMulStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const FilterStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const LineFilterStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const WindowFilterStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const ReduceStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const RearrangeStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const SortStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const ScanStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const TakeStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const CreationStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const ImageStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const NetworkStep& step, const CpuValues& values, CpuMemory& memory);
absl::Status RunOnCpu(const SignalStep& step, const CpuValues& values, CpuMemory& memory);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_STEP_H_
