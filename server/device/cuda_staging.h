// A lane's page-locked memory, and the copies that pass through it.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_STAGING_H_
#define GPUCALL_SERVER_DEVICE_CUDA_STAGING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/host_bytes.h"
#include "server/device/copy_threads.h"
#include "server/device/cuda_handles.h"
#include "server/device/cuda_pinned_pool.h"

namespace gpucall {

// Returns once the event's work is done: looks for 100 us, then sleeps. REQUIRES: the event was
// made with cudaEventBlockingSync.
absl::Status WaitFor(cudaEvent_t event);

// Bytes that a copy from a GPU left in host memory.
class Downloaded {
 public:
  Downloaded() = default;
  // In memory that is valid until the staging is used again.
  explicit Downloaded(const std::byte* data) : data_(data) {}
  // In blocks of PinnedPool::kBlockBytes, one after the other; null where a target has the bytes.
  explicit Downloaded(std::vector<std::shared_ptr<std::byte>> blocks)
      : blocks_(std::move(blocks)) {}

  // REQUIRES: within what was copied, and not to a target.
  HostBytes Range(int64_t offset, int64_t size_bytes) const;

 private:
  const std::byte* data_ = nullptr;
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

// Used by one thread at a time, with one stream, which is idle before Upload is called.
class Staging {
 public:
  // Bytes for `offset` of what is copied.
  struct Segment {
    int64_t offset;
    const void* data;
    int64_t size_bytes;
    bool is_pinned = false;
  };
  // Page-locked host memory for [offset, offset + size_bytes) of what is copied.
  struct Target {
    int64_t offset;
    int64_t size_bytes;
    std::byte* data;
  };
  // What is larger and page-locked is copied from where it is, and to where it goes.
  static constexpr int64_t kMaxPackedBytes = int64_t{64} << 10;

  // Page-locks 64 MiB. RESOURCE_EXHAUSTED: there is not as much. `threads` must outlive it.
  static absl::StatusOr<Staging> Make(std::shared_ptr<PinnedPool> blocks, CopyThreads& threads);

  // Packs the segments (in order of offset, not overlapping) and copies `size_bytes` to `device`,
  // in one copy up to kPieceBytes, else in pieces, packing one while those before it are copied.
  // Bytes between segments are anything. Large pinned segments are not packed. Returns when the
  // others have been read.
  absl::Status Upload(absl::Span<const Segment> segments, int64_t size_bytes, std::byte* device,
                      cudaStream_t stream);

  // Memory that the GPU can read and write itself, kArenaBytes.
  std::byte* arena() const { return static_cast<std::byte*>(arena_.get()); }
  // Packs the segments (as for Upload, within the arena) into the arena.
  void Pack(absl::Span<const Segment> segments) const;

  // Begins to copy `size_bytes` from `device`: in one copy to the arena where they are few, else to
  // blocks that may outlive this, and what `targets` are for to them.
  // RESOURCE_EXHAUSTED: there is no host memory for more.
  absl::Status StartDownload(const std::byte* device, int64_t size_bytes,
                             absl::Span<const Target> targets, cudaStream_t stream);
  // Waits for `done`, recorded after StartDownload.
  absl::StatusOr<Downloaded> FinishDownload(cudaEvent_t done);
  // Copies to blocks, whatever the size, and waits for the stream.
  absl::StatusOr<Downloaded> DownloadToBlocks(const std::byte* device, int64_t size_bytes,
                                              cudaStream_t stream);

 private:
  static constexpr int64_t kPieceBytes = int64_t{4} << 20;
  static constexpr int64_t kPieceCount = 16;
  static constexpr int64_t kArenaBytes = kPieceBytes * kPieceCount;
  static constexpr int64_t kMaxArenaDownload = int64_t{256} << 10;

  std::byte* Piece(int64_t index) const { return arena() + index % kPieceCount * kPieceBytes; }
  cudaEvent_t PieceEvent(int64_t index) const { return piece_events_[index % kPieceCount].get(); }
  struct Packing {
    int64_t piece = 0;           // the next
    bool reuses_pieces = false;  // there may be more than kPieceCount
  };
  // Packs and copies [begin, end).
  absl::Status UploadRange(absl::Span<const Segment> segments, int64_t begin, int64_t end,
                           std::byte* device, Packing& packing, cudaStream_t stream);
  absl::Status StartBlocks(const std::byte* device, int64_t size_bytes,
                           absl::Span<const Target> targets, cudaStream_t stream);

  CudaPinnedMemory arena_;
  std::vector<CudaEvent> piece_events_;
  std::shared_ptr<PinnedPool> pool_;
  CopyThreads* threads_ = nullptr;
  // Of the download in flight; none where it goes to the arena.
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_STAGING_H_
