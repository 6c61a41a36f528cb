// The memory of a Tensor.
#ifndef GPUCALL_MEMORY_H_
#define GPUCALL_MEMORY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace gpucall {
inline namespace client {

// Bytes aligned for any element. A value: copies copy them, or throw std::bad_alloc. Empty after it
// was moved from.
class Memory {
 public:
  Memory() = default;
  // Takes the bytes as they are.
  explicit Memory(std::string bytes);
  // The bytes of which nobody else has any use.
  Memory(std::shared_ptr<char> data, size_t size_bytes)
      : data_(std::move(data)), size_bytes_(size_bytes) {}
  // Bytes that nothing has set yet; null data where there is not so much memory.
  static Memory Uninitialized(size_t size_bytes);
  static Memory CopyOf(absl::string_view bytes);

  Memory(const Memory& other) : Memory(CopyOf(other.bytes())) {}
  Memory(Memory&& other) noexcept
      : data_(std::move(other.data_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  Memory& operator=(Memory other) noexcept {
    data_.swap(other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }

  char* data() { return data_.get(); }
  size_t size_bytes() const { return size_bytes_; }
  absl::string_view bytes() const { return {data_.get(), size_bytes_}; }

 private:
  std::shared_ptr<char> data_;  // the bytes are not shared: one kind of pointer for all owners
  size_t size_bytes_ = 0;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_MEMORY_H_
