// Device memory of a stream-ordered pool: allocating takes microseconds and never waits for the
// GPU.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_MEMORY_H_
#define GPUCALL_SERVER_DEVICE_CUDA_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "server/device/buffer.h"
#include "server/device/cuda_handles.h"

namespace gpucall {

// Owns one block. Usable in the order of its stream, and freed in it.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(std::byte* data, cudaStream_t stream) : data_(data), stream_(stream) {}
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~DeviceMemory() {
    if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_));
  }

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// Thread-safe. Keeps freed memory for later.
class DeviceMemoryPool {
 public:
  static absl::StatusOr<DeviceMemoryPool> Make(int ordinal);

  // `size_bytes` aligned to 256; null data for 0. Where memory is short, waits for the stream,
  // gives back what the pool keeps, and tries once more. RESOURCE_EXHAUSTED naming the bytes asked
  // for and free.
  absl::StatusOr<DeviceMemory> Allocate(int64_t size_bytes, cudaStream_t stream);

  // As Allocate, usable on any stream at once. Its last reference must go after the work that uses
  // it is done.
  absl::StatusOr<BufferPointer> AllocateBuffer(int64_t size_bytes);

 private:
  DeviceMemoryPool(CudaMemPool pool, CudaStream stream)
      : pool_(std::move(pool)), buffer_stream_(std::move(stream)) {}

  CudaMemPool pool_;
  CudaStream buffer_stream_;  // buffers are made and freed in it; it runs nothing else
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_MEMORY_H_
