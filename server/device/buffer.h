// Elements in the memory of a device that outlive a batch, and what moves bytes to and from them.
#ifndef GPUCALL_SERVER_DEVICE_BUFFER_H_
#define GPUCALL_SERVER_DEVICE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/host_bytes.h"

namespace gpucall {

// Freed with its last reference. Written by one owner before others read it: by a Copier up to
// Finish, or by the one batch whose output it is.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  // An address of the device, aligned to 64; null where there are no bytes.
  std::byte* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }

 protected:
  DeviceBuffer(std::byte* data, int64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

 private:
  std::byte* const data_;
  const int64_t size_bytes_;
};

using BufferPointer = std::shared_ptr<DeviceBuffer>;

// Where the elements of a tensor are: in a buffer where that is set, else in host memory.
struct Storage {
  HostBytes host = {};
  BufferPointer resident = nullptr;

  int64_t size_bytes() const { return resident ? resident->size_bytes() : host.size_bytes(); }
};

// Moves bytes between host memory and buffers of one device, in order: on a GPU, a stream and some
// page-locked blocks of its own. Used by one thread at a time.
class Copier {
 public:
  // Bytes of one step of a long copy.
  static constexpr int64_t kBlockBytes = int64_t{1} << 20;
  static constexpr int kMaxReads = 4;

  virtual ~Copier() = default;

  // Copies `from` to [offset, offset + from.size_bytes()) of `to`, which must lie within it. `from`
  // has been read on return; the bytes may not have arrived before Finish.
  virtual absl::Status Write(const HostBytes& from, const BufferPointer& to, int64_t offset) = 0;
  // Returns once all writes have arrived.
  virtual absl::Status Finish() = 0;

  // Begins to read [offset, offset + size_bytes), at most kBlockBytes. REQUIRES: fewer than
  // kMaxReads reads have begun and not been finished.
  virtual absl::Status StartRead(const BufferPointer& from, int64_t offset, int64_t size_bytes) = 0;
  // The bytes of the oldest read, in pieces that have owners.
  virtual absl::StatusOr<HostBytes> FinishRead() = 0;

  // Copies all of `from` to `to`, which is as large, and returns when that is done.
  virtual absl::Status Copy(const BufferPointer& from, const BufferPointer& to) = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_BUFFER_H_
