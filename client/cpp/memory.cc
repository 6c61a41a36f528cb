#include "gpucall/memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace gpucall {
inline namespace client {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

Memory::Memory(std::string bytes) : size_bytes_(bytes.size()) {
  const auto owner = std::make_shared<std::string>(std::move(bytes));
  data_ = std::shared_ptr<char>(owner, owner->data());
}

Memory Memory::Uninitialized(size_t size_bytes) {
  Memory memory;
  if (size_bytes > SIZE_MAX - kAlignment) return memory;
  const size_t rounded = (size_bytes / kAlignment + 1) * kAlignment;
  memory.data_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, rounded)), std::free);
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
