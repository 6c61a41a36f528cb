// Matrix products on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_MATMUL_H_
#define GPUCALL_SERVER_DEVICE_CPU_MATMUL_H_

#include "absl/status/status.h"
#include "server/device/cpu_memory.h"
#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output. Copies operands that are not aligned into `memory`, for the caller to rewind.
// INVALID_ARGUMENT: m, n or k past 2^31 - 1. RESOURCE_EXHAUSTED: no memory.
absl::Status RunMatMul(const MatMulStep& step, const CpuValues& values, CpuMemory& memory);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_MATMUL_H_
