// Names that cannot be guessed.
#ifndef GPUCALL_SERVER_STORE_HANDLE_H_
#define GPUCALL_SERVER_STORE_HANDLE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpucall {

// 128 random bits: who has one was given it.
class Handle {
 public:
  static constexpr size_t kBytes = 16;

  // Of the kernel's random source.
  static Handle Random();
  // INVALID_ARGUMENT, naming `what`: not kBytes.
  static absl::StatusOr<Handle> FromBytes(absl::string_view what, absl::string_view bytes);

  // kBytes, as they go over the wire.
  std::string bytes() const;
  // For messages: "3f9a..." in hexadecimal.
  std::string ToString() const;

  auto operator<=>(const Handle&) const = default;
  template <typename H>
  friend H AbslHashValue(H hash, const Handle& handle) {
    return H::combine(std::move(hash), handle.bytes_);
  }

 private:
  std::array<unsigned char, kBytes> bytes_ = {};
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_HANDLE_H_
