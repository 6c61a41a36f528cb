#include "server/device/cuda_pinned_pool.h"

#include <cstdlib>
#include <utility>

#include "server/device/cuda_status.h"

namespace gpucall {

absl::StatusOr<std::shared_ptr<PinnedPool>> PinnedPool::Make(int64_t block_count) {
  auto pool = std::shared_ptr<PinnedPool>(new PinnedPool(block_count));
  void* memory = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaHostAlloc(
      &memory, static_cast<size_t>(block_count * kBlockBytes), cudaHostAllocPortable));
  pool->memory_.reset(memory);
  MutexLock lock(pool->mutex_);
  for (int64_t i = block_count; i-- > 0;) {
    pool->free_.push_back(static_cast<std::byte*>(memory) + i * kBlockBytes);
  }
  return pool;
}

std::shared_ptr<std::byte> PinnedPool::Take() {
  std::byte* block = nullptr;
  {
    MutexLock lock(mutex_);
    if (free_.empty()) {
      ++fallbacks_;
    } else {
      block = free_.back();
      free_.pop_back();
    }
  }
  if (block != nullptr) {
    return {block, [pool = shared_from_this()](std::byte* given) { pool->GiveBack(given); }};
  }
  auto* const ordinary = static_cast<std::byte*>(std::malloc(kBlockBytes));
  if (ordinary == nullptr) return nullptr;
  return {ordinary, [](std::byte* given) { std::free(given); }};
}

void PinnedPool::GiveBack(std::byte* block) {
  MutexLock lock(mutex_);
  free_.push_back(block);
}

int64_t PinnedPool::free_count() const {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(free_.size());
}

int64_t PinnedPool::fallback_count() const {
  MutexLock lock(mutex_);
  return fallbacks_;
}

}  // namespace gpucall
