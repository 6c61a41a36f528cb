// Memory that a client shares with the server.
#ifndef GPUCALL_SERVER_STORE_SEGMENT_H_
#define GPUCALL_SERVER_STORE_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "server/base/unique_fd.h"
#include "server/device/device.h"

namespace gpucall {

// A mapping of a client's memfd, which cannot shrink: reading and writing it never faults. The
// client may change any byte at any time, so no byte of it may decide where memory is accessed.
class Segment {
 public:
  // Maps all of `memfd` and page-locks it for `device`, which must outlive it. INVALID_ARGUMENT:
  // not a memfd of ordinary pages, seals missing or too many, no whole pages. RESOURCE_EXHAUSTED:
  // larger than `max_bytes`, or the system has no room for it.
  static absl::StatusOr<std::shared_ptr<const Segment>> Map(const UniqueFd& memfd,
                                                            int64_t max_bytes, Device& device);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  int64_t size_bytes() const { return size_bytes_; }
  // Page-locked: false on a CPU, and where the system did not lock as much.
  bool is_pinned() const { return lock_ != nullptr; }

  // The address of [offset, offset + size_bytes). INVALID_ARGUMENT: that is not all inside.
  absl::StatusOr<std::byte*> At(uint64_t offset, uint64_t size_bytes) const;

 private:
  Segment(std::byte* data, int64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  std::byte* const data_;
  const int64_t size_bytes_;
  std::shared_ptr<const void> lock_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_SEGMENT_H_
