#include "server/device/cuda_memory.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "server/device/cuda_status.h"

namespace gpucall {
namespace {

class CudaBuffer final : public DeviceBuffer {
 public:
  CudaBuffer(DeviceMemory memory, int64_t size_bytes)
      : DeviceBuffer(memory.data(), size_bytes), memory_(std::move(memory)) {}

 private:
  const DeviceMemory memory_;
};

}  // namespace

absl::StatusOr<DeviceMemoryPool> DeviceMemoryPool::Make(int ordinal) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaMemPool_t pool = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemPoolCreate(&pool, &properties));
  CudaMemPool owner(pool);
  cudaStream_t stream = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  DeviceMemoryPool result(std::move(owner), CudaStream(stream));
  uint64_t keep = std::numeric_limits<uint64_t>::max();
  GPUCALL_RETURN_IF_CUDA_ERROR(
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  return result;
}

absl::StatusOr<DeviceMemory> DeviceMemoryPool::Allocate(int64_t size_bytes, cudaStream_t stream) {
  if (size_bytes == 0) return DeviceMemory();
  void* data = nullptr;
  const size_t size = static_cast<size_t>(size_bytes);
  cudaError_t error = cudaMallocFromPoolAsync(&data, size, pool_.get(), stream);
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemPoolTrimTo(pool_.get(), 0));
    error = cudaMallocFromPoolAsync(&data, size, pool_.get(), stream);
  }
  if (error == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    size_t free_bytes = 0, total_bytes = 0;
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemGetInfo(&free_bytes, &total_bytes));
    return absl::ResourceExhaustedError(absl::StrCat("device memory: ", size_bytes,
                                                     " bytes are needed, ", free_bytes, " of ",
                                                     total_bytes, " are free"));
  }
  GPUCALL_RETURN_IF_ERROR(CudaStatus(error, "cudaMallocFromPoolAsync"));
  return DeviceMemory(static_cast<std::byte*>(data), stream);
}

absl::StatusOr<BufferPointer> DeviceMemoryPool::AllocateBuffer(int64_t size_bytes) {
  cudaStream_t const stream = buffer_stream_.get();
  GPUCALL_ASSIGN_OR_RETURN(DeviceMemory memory, Allocate(size_bytes, stream));
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
  return std::make_shared<CudaBuffer>(std::move(memory), size_bytes);
}

}  // namespace gpucall
