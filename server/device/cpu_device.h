// The CPU as a Device: the arithmetic specification for every other device, and the default where
// there is no GPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_DEVICE_H_
#define GPUCALL_SERVER_DEVICE_CPU_DEVICE_H_

#include <memory>

#include "server/device/device.h"

namespace gpucall {

std::unique_ptr<Device> MakeCpuDevice();

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_DEVICE_H_
