// The CUDA device, as the module's factory makes it.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/device/cuda_lane.h"
#include "server/device/cuda_module.h"
#include "server/device/cuda_status.h"

namespace gpucall {
namespace {

// What kernels are compiled for starts here.
constexpr int kMinComputeCapability = 80;
constexpr int kDefaultLanes = 2;

class CudaDevice : public Device {
 public:
  CudaDevice(DeviceInfo info, int ordinal, DeviceMemoryPool pool, int compute_capability)
      : state_{std::move(info), ordinal, std::move(pool),
               KernelCache(compute_capability, KernelDiskCache::FromEnvironment())} {}

  const DeviceInfo& info() const override { return state_.info; }
  absl::StatusOr<std::unique_ptr<Lane>> MakeLane() override { return CudaLane::Make(state_); }

 private:
  CudaDeviceState state_;
};

absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(int ordinal) {
  cudaDeviceProp properties = {};
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaGetDeviceProperties(&properties, ordinal));
  const int compute_capability = 10 * properties.major + properties.minor;
  DeviceInfo info = {.id = absl::StrCat("cuda:", ordinal),
                     .name = properties.name,
                     .memory_bytes = static_cast<int64_t>(properties.totalGlobalMem),
                     .default_lanes = kDefaultLanes,
                     .compute_capability = absl::StrCat(properties.major, ".", properties.minor)};
  if (compute_capability < kMinComputeCapability) {
    return absl::FailedPreconditionError(
        absl::StrCat("device: ", info.name, " has compute capability ", info.compute_capability,
                     ", at least 8.0 is needed"));
  }
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal));
  GPUCALL_ASSIGN_OR_RETURN(DeviceMemoryPool pool, DeviceMemoryPool::Make(ordinal));
  return std::make_unique<CudaDevice>(std::move(info), ordinal, std::move(pool),
                                      compute_capability);
}

}  // namespace
}  // namespace gpucall

extern "C" __attribute__((visibility("default"))) absl::StatusOr<std::unique_ptr<gpucall::Device>>
gpucall_make_cuda_device(int ordinal) {
  return gpucall::MakeCudaDevice(ordinal);
}
