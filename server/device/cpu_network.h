// Convolutions and pools on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_NETWORK_H_
#define GPUCALL_SERVER_DEVICE_CPU_NETWORK_H_

#include "absl/status/status.h"
#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output. INVALID_ARGUMENT: a size past 2^31 - 1.
absl::Status RunNetwork(const NetworkStep& step, const CpuValues& values);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_NETWORK_H_
