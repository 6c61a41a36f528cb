// Operations on images on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_IMAGE_H_
#define GPUCALL_SERVER_DEVICE_CPU_IMAGE_H_

#include "server/device/cpu_values.h"

namespace gpucall {

// Writes step.output.
void RunImage(const ImageStep& step, const CpuValues& values);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_IMAGE_H_
