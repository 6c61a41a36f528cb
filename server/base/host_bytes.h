// Bytes in host memory that need not lie together.
#ifndef GPUCALL_SERVER_BASE_HOST_BYTES_H_
#define GPUCALL_SERVER_BASE_HOST_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace gpucall {

// The elements of a tensor, row-major, in pieces: of a request they lie in the slices that the
// network delivered. Pieces have no alignment.
class HostBytes {
 public:
  struct Piece {
    const std::byte* data = nullptr;
    int64_t size_bytes = 0;
    // Keeps the bytes where it is set; else they are valid as long as their giver says.
    std::shared_ptr<const void> owner = nullptr;
    bool is_pinned = false;  // page-locked: a GPU copies it by itself
  };

  HostBytes() = default;
  HostBytes(const void* data, int64_t size_bytes, std::shared_ptr<const void> owner = nullptr) {
    Add({static_cast<const std::byte*>(data), size_bytes, std::move(owner)});
  }

  void Add(Piece piece) {
    size_bytes_ += piece.size_bytes;
    pieces_.push_back(std::move(piece));
  }

  int64_t size_bytes() const { return size_bytes_; }
  absl::Span<const Piece> pieces() const { return pieces_; }
  // Whether the bytes are kept where they are.
  bool is_owned() const {
    return !pieces_.empty() &&
           std::ranges::all_of(pieces_, [](const Piece& piece) { return piece.owner != nullptr; });
  }
  bool is_contiguous() const { return pieces_.size() <= 1; }
  // REQUIRES: is_contiguous(). Null where there are no bytes.
  const std::byte* data() const { return pieces_.empty() ? nullptr : pieces_[0].data; }

  // [offset, offset + size_bytes). REQUIRES: within these.
  HostBytes Range(int64_t offset, int64_t size_bytes) const {
    HostBytes range;
    for (const Piece& piece : pieces_) {
      if (size_bytes == 0) break;
      if (offset < piece.size_bytes) {
        const int64_t count = std::min(size_bytes, piece.size_bytes - offset);
        range.Add({piece.data + offset, count, piece.owner});
        size_bytes -= count;
        offset = 0;
      } else {
        offset -= piece.size_bytes;
      }
    }
    return range;
  }

  void CopyTo(std::byte* to) const {
    for (const Piece& piece : pieces_) {
      if (piece.size_bytes > 0) std::memcpy(to, piece.data, static_cast<size_t>(piece.size_bytes));
      to += piece.size_bytes;
    }
  }

 private:
  absl::InlinedVector<Piece, 1> pieces_;
  int64_t size_bytes_ = 0;
};

// Host memory that a result goes to.
struct HostTarget {
  std::byte* data = nullptr;  // aligned to 64; null: none
  std::shared_ptr<const void> owner = nullptr;
  bool is_pinned = false;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_BASE_HOST_BYTES_H_
