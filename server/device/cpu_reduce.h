// Operations along axes on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_REDUCE_H_
#define GPUCALL_SERVER_DEVICE_CPU_REDUCE_H_

#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output.
void RunReduce(const ReduceStep& step, const CpuValues& values);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_REDUCE_H_
