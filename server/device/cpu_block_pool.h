// Host memory that outlives a batch: outputs on their way to a caller, and the CPU's buffers.
#ifndef GPUCALL_SERVER_DEVICE_CPU_BLOCK_POOL_H_
#define GPUCALL_SERVER_DEVICE_CPU_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/mutex.h"

namespace gpucall {

// Keeps what was given back for the next taker: fresh pages cost more than the copy into them.
// Thread-safe. Blocks may outlive the pool's owner.
class CpuBlockPool : public std::enable_shared_from_this<CpuBlockPool> {
 public:
  static constexpr int64_t kMaxKeptBytes = int64_t{256} << 20;

  // `size_bytes` aligned to 64, not initialised; given back with the last reference.
  // RESOURCE_EXHAUSTED: the system has no more.
  absl::StatusOr<std::shared_ptr<std::byte>> Take(int64_t size_bytes);

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { std::free(data); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> data;
    int64_t size_bytes;
  };

  Block Find(int64_t size_bytes);
  void GiveBack(Block block);

  Mutex mutex_;
  std::vector<Block> kept_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  int64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_BLOCK_POOL_H_
