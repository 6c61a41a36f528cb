// Finds and loads the CUDA device, which is a module (gpucall_cuda.so) beside the server: the
// server itself needs no CUDA.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_MODULE_H_
#define GPUCALL_SERVER_DEVICE_CUDA_MODULE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/device/device.h"

namespace gpucall {

// What the module exports, by the name kCudaFactorySymbol. `ordinal` counts the visible GPUs from
// 0.
using CudaFactory = absl::StatusOr<std::unique_ptr<Device>> (*)(int ordinal);
inline constexpr char kCudaFactorySymbol[] = "gpucall_make_cuda_device";

// The CUDA device number `ordinal`. The module stays loaded for the life of the process.
// FAILED_PRECONDITION where there is none; the message begins with the cause, one of
//   "driver:"      libcuda.so.1 is absent, too old, or fails
//   "toolkit:"     the module, or a library it needs (cuBLASLt, NVRTC), is absent
//   "device:"      no GPU, or no GPU with that number, is visible
//   "permission:"  the GPU's device files cannot be opened
absl::StatusOr<std::unique_ptr<Device>> LoadCudaDevice(int ordinal);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_MODULE_H_
