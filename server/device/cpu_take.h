// Takes on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_TAKE_H_
#define GPUCALL_SERVER_DEVICE_CPU_TAKE_H_

#include "absl/status/status.h"
#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output. INVALID_ARGUMENT: an index out of range.
absl::Status RunTake(const TakeStep& step, const CpuValues& values);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_TAKE_H_
