// Image filters on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_FILTER_H_
#define GPUCALL_SERVER_DEVICE_CPU_FILTER_H_

#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output.
void RunFilter(const FilterStep& step, const CpuValues& values);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_FILTER_H_
