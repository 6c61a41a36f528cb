#include "server/device/cpu_block_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gpucall {
namespace {

constexpr int64_t kAlignment = 64;

}  // namespace

absl::StatusOr<std::shared_ptr<std::byte>> CpuBlockPool::Take(int64_t size_bytes) {
  Block block = Find(size_bytes);
  if (block.data == nullptr) {
    block.size_bytes =
        std::max(kAlignment, (size_bytes + kAlignment - 1) / kAlignment * kAlignment);
    block.data.reset(static_cast<std::byte*>(
        std::aligned_alloc(kAlignment, static_cast<size_t>(block.size_bytes))));
  }
  if (block.data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("host memory: there are no ", size_bytes, " bytes"));
  }
  std::byte* const data = block.data.release();
  return std::shared_ptr<std::byte>(
      data, [pool = shared_from_this(), size = block.size_bytes](std::byte* given) {
        pool->GiveBack({std::unique_ptr<std::byte, Free>(given), size});
      });
}

// One that is large enough, but not twice as large.
CpuBlockPool::Block CpuBlockPool::Find(int64_t size_bytes) {
  MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(kept_, [size_bytes](const Block& block) {
    return block.size_bytes >= size_bytes && block.size_bytes / 2 <= size_bytes;
  });
  if (found == kept_.end()) return {};
  Block block = std::move(*found);
  kept_.erase(found);
  kept_bytes_ -= block.size_bytes;
  return block;
}

void CpuBlockPool::GiveBack(Block block) {
  std::vector<Block> freed;  // outside the lock
  MutexLock lock(mutex_);
  kept_bytes_ += block.size_bytes;
  kept_.push_back(std::move(block));
  size_t count = 0;
  while (kept_bytes_ > kMaxKeptBytes) kept_bytes_ -= kept_[count++].size_bytes;
  std::move(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(count),
            std::back_inserter(freed));
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(count));
}

}  // namespace gpucall
