#include "gpucall/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace gpucall {
inline namespace client {
namespace {

constexpr size_t kAlignment = 64;
// From here on memory is new to the process, mostly: in large pages it costs far fewer page faults,
// which are dearer than the copy that follows.
constexpr size_t kHugePageBytes = 2 << 20;
constexpr size_t kMinHugeBytes = 8 << 20;

size_t AlignmentOf(size_t size_bytes) {
  return size_bytes < kMinHugeBytes ? kAlignment : kHugePageBytes;
}

}  // namespace

Memory::Memory(std::string bytes) : size_bytes_(bytes.size()) {
  const auto owner = std::make_shared<std::string>(std::move(bytes));
  data_ = std::shared_ptr<char>(owner, owner->data());
}

Memory Memory::Uninitialized(size_t size_bytes) {
  Memory memory;
  const size_t alignment = AlignmentOf(size_bytes);
  if (size_bytes > SIZE_MAX - alignment) return memory;
  const size_t rounded = (size_bytes / alignment + 1) * alignment;
  memory.data_.reset(static_cast<char*>(std::aligned_alloc(alignment, rounded)), std::free);
  if (memory.data_ != nullptr && alignment == kHugePageBytes) {
    madvise(memory.data_.get(), rounded, MADV_HUGEPAGE);  // its failure changes nothing
  }
  if (memory.data_ != nullptr) memory.size_bytes_ = size_bytes;
  return memory;
}

Memory Memory::CopyOf(absl::string_view bytes) {
  if (bytes.empty()) return Memory();
  Memory copy = Uninitialized(bytes.size());
  if (copy.data_ == nullptr) throw std::bad_alloc();
  std::memcpy(copy.data_.get(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace client
}  // namespace gpucall
