#include "server/device/cpu_memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

constexpr size_t kSmallestBlock = 64 << 10;
constexpr size_t kHugePage = 2 << 20;

size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

absl::Status CpuMemory::AddBlock(size_t size_bytes) {
  const size_t alignment = size_bytes >= kHugePage ? kHugePage : kAlignment;
  const size_t rounded = RoundUp(std::max(size_bytes, kSmallestBlock), alignment);
  auto* data = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no host memory for ", size_bytes, " bytes of results"));
  }
  // Large pages where the system has them, for fewer faults; all the same if not.
  if (alignment == kHugePage) madvise(data, rounded, MADV_HUGEPAGE);
  blocks_.push_back({std::unique_ptr<std::byte[], Free>(data), rounded});
  return absl::OkStatus();
}

absl::StatusOr<std::byte*> CpuMemory::Allocate(size_t size_bytes) {
  const size_t rounded = RoundUp(size_bytes, kAlignment);
  while (position_.block < blocks_.size() &&
         blocks_[position_.block].size_bytes - position_.used < rounded) {
    position_ = {position_.block + 1, 0};
  }
  if (position_.block == blocks_.size()) GPUCALL_RETURN_IF_ERROR(AddBlock(rounded));
  std::byte* result = blocks_[position_.block].data.get() + position_.used;
  position_.used += rounded;
  size_t before = 0;
  for (size_t b = 0; b < position_.block; ++b) before += blocks_[b].size_bytes;
  needed_ = std::max(needed_, before + position_.used);
  return result;
}

size_t CpuMemory::held_bytes() const {
  size_t held = 0;
  for (const Block& block : blocks_) held += block.size_bytes;
  return held;
}

void CpuMemory::Reset() {
  const size_t held = held_bytes();
  recent_needed_ = std::max(recent_needed_, needed_);
  bool shrink = false;
  if (++batches_ == kBatchesKept) {
    shrink = recent_needed_ < held / 4;
    batches_ = 0;
    recent_needed_ = 0;
  }
  // One block for what several held: the next batch of the size needs no other. Where that fails,
  // Allocate says so.
  if (shrink || blocks_.size() > 1) {
    blocks_.clear();
    static_cast<void>(AddBlock(shrink ? needed_ : held));
  }
  needed_ = 0;
  position_ = {};
}

}  // namespace gpucall
