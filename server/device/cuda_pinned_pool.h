// Page-locked host memory in blocks: what copies to and from a GPU pass through at full speed.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_PINNED_POOL_H_
#define GPUCALL_SERVER_DEVICE_CUDA_PINNED_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/device/cuda_handles.h"

namespace gpucall {

// Locks its memory once, since locking costs 0.3 ms for each MiB. Thread-safe; blocks may outlive
// the pool's owner.
class PinnedPool : public std::enable_shared_from_this<PinnedPool> {
 public:
  static constexpr int64_t kBlockBytes = int64_t{1} << 20;

  // RESOURCE_EXHAUSTED: the system does not lock as much.
  static absl::StatusOr<std::shared_ptr<PinnedPool>> Make(int64_t block_count);

  // kBlockBytes, given back with the last reference. Where all blocks are taken: ordinary memory,
  // through which copies are slower, and which is counted. Null where the system has none.
  std::shared_ptr<std::byte> Take();

  int64_t block_count() const { return block_count_; }
  int64_t free_count() const;
  int64_t fallback_count() const;  // blocks of ordinary memory since the start

 private:
  explicit PinnedPool(int64_t block_count) : block_count_(block_count) {}
  void GiveBack(std::byte* block);

  const int64_t block_count_;
  CudaPinnedMemory memory_;
  mutable Mutex mutex_;
  std::vector<std::byte*> free_ ABSL_GUARDED_BY(mutex_);
  int64_t fallbacks_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_PINNED_POOL_H_
