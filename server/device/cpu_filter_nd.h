// Filters over axes on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_FILTER_ND_H_
#define GPUCALL_SERVER_DEVICE_CPU_FILTER_ND_H_

#include "server/device/cpu_values.h"

namespace gpucall {

// REQUIRES: the step's values are in place.
void RunLineFilter(const LineFilterStep& step, const CpuValues& values);
void RunWindowFilter(const WindowFilterStep& step, const CpuValues& values);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_FILTER_ND_H_
