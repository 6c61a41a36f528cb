// The CUDA device, as the module's factory makes it.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/device/cuda_copier.h"
#include "server/device/cuda_lane.h"
#include "server/device/cuda_module.h"
#include "server/device/cuda_status.h"
#include "server/device/host_memory.h"

namespace gpucall {
namespace {

// What kernels are compiled for starts here.
constexpr int kMinComputeCapability = 80;
constexpr int kDefaultLanes = 2;

// A sixteenth of the host memory, from 64 MiB to 1 GiB.
int64_t PinnedBlockCount() {
  return std::clamp<int64_t>(HostMemoryLimit() / 16 / PinnedPool::kBlockBytes, 64, 1024);
}

class CudaDevice : public Device {
 public:
  CudaDevice(DeviceInfo info, int ordinal, DeviceMemoryPool pool,
             std::shared_ptr<PinnedPool> blocks, int compute_capability)
      : state_{.info = std::move(info),
               .ordinal = ordinal,
               .pool = std::move(pool),
               .blocks = std::move(blocks),
               .kernels{compute_capability, KernelDiskCache::FromEnvironment()}} {}

  const DeviceInfo& info() const override { return state_.info; }
  absl::StatusOr<std::unique_ptr<Lane>> MakeLane() override { return CudaLane::Make(state_); }
  absl::StatusOr<BufferPointer> Allocate(int64_t size_bytes) override {
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(state_.ordinal));
    return state_.pool.AllocateBuffer(size_bytes);
  }
  absl::StatusOr<std::unique_ptr<Copier>> MakeCopier() override {
    return CudaCopier::Make(state_.ordinal, state_.blocks);
  }
  absl::StatusOr<std::shared_ptr<const void>> LockHostMemory(std::byte* data,
                                                             int64_t size_bytes) override {
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(state_.ordinal));
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaHostRegister(
        data, static_cast<size_t>(size_bytes), cudaHostRegisterMapped | cudaHostRegisterPortable));
    return std::shared_ptr<const void>(
        data, [](void* locked) { static_cast<void>(cudaHostUnregister(locked)); });
  }
  PinnedMemory pinned_memory() const override {
    const PinnedPool& blocks = *state_.blocks;
    return {.size_bytes = blocks.block_count() * PinnedPool::kBlockBytes,
            .free_bytes = blocks.free_count() * PinnedPool::kBlockBytes,
            .fallbacks = blocks.fallback_count()};
  }

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
  GPUCALL_ASSIGN_OR_RETURN(auto blocks, PinnedPool::Make(PinnedBlockCount()));
  return std::make_unique<CudaDevice>(std::move(info), ordinal, std::move(pool), std::move(blocks),
                                      compute_capability);
}

}  // namespace
}  // namespace gpucall

extern "C" __attribute__((visibility("default"))) absl::StatusOr<std::unique_ptr<gpucall::Device>>
gpucall_make_cuda_device(int ordinal) {
  return gpucall::MakeCudaDevice(ordinal);
}
