// Creations on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_CREATION_H_
#define GPUCALL_SERVER_DEVICE_CPU_CREATION_H_

#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output.
void RunCreation(const CreationStep& step, const CpuValues& values);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_CREATION_H_
