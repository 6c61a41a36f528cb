// A lane's page-locked memory, and the copies that pass through it.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_STAGING_H_
#define GPUCALL_SERVER_DEVICE_CUDA_STAGING_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/device/cuda_handles.h"

namespace gpucall {

// Returns once the event's work is done: looks for 100 us, then sleeps. REQUIRES: the event was
// made with cudaEventBlockingSync.
absl::Status WaitFor(cudaEvent_t event);

// Used by one thread at a time, with one stream, which is idle before Upload is called.
class Staging {
 public:
  // Bytes for `offset` of what is copied.
  struct Segment {
    int64_t offset;
    const void* data;
    int64_t size_bytes;
  };

  // Page-locks 64 MiB. RESOURCE_EXHAUSTED: there is not as much.
  static absl::StatusOr<Staging> Make();

  // Packs the segments (in order of offset, not overlapping) and copies `size_bytes` to `device`,
  // in one copy up to kPieceBytes, else in pieces, packing one while those before it are copied.
  // Bytes between segments are anything. Returns when all segments have been read.
  absl::Status Upload(absl::Span<const Segment> segments, int64_t size_bytes, std::byte* device,
                      cudaStream_t stream);

  // Memory that the GPU can read and write itself, kArenaBytes.
  std::byte* arena() const { return static_cast<std::byte*>(arena_.get()); }
  // Packs the segments (as for Upload, within the arena) into the arena.
  void Pack(absl::Span<const Segment> segments) const;

  // Begins to copy `size_bytes` from `device`. One copy where they fit the arena.
  // RESOURCE_EXHAUSTED: there is no host memory for more.
  absl::Status StartDownload(const std::byte* device, int64_t size_bytes, cudaStream_t stream);
  // Waits for `done`, recorded after StartDownload, and returns where the bytes are, valid until
  // the next Upload or StartDownload.
  absl::StatusOr<const std::byte*> FinishDownload(cudaEvent_t done);

 private:
  static constexpr int64_t kPieceBytes = int64_t{4} << 20;
  static constexpr int64_t kPieceCount = 16;
  static constexpr int64_t kArenaBytes = kPieceBytes * kPieceCount;

  std::byte* Piece(int64_t index) const {
    return static_cast<std::byte*>(arena_.get()) + index % kPieceCount * kPieceBytes;
  }
  cudaEvent_t PieceEvent(int64_t index) const { return piece_events_[index % kPieceCount].get(); }
  absl::Status StartPieceDownload(int64_t index);

  CudaPinnedMemory arena_;
  std::vector<CudaEvent> piece_events_;
  // The download in flight, where it is larger than the arena: pieces go on to `large_`.
  const std::byte* device_ = nullptr;
  int64_t size_bytes_ = 0;
  cudaStream_t stream_ = nullptr;
  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> large_;
  int64_t large_bytes_ = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_STAGING_H_
