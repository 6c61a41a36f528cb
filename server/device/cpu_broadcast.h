// Reads a broadcast tensor in the order of the elements of the shape it is broadcast to.
#ifndef GPUCALL_SERVER_DEVICE_CPU_BROADCAST_H_
#define GPUCALL_SERVER_DEVICE_CPU_BROADCAST_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/base/shape.h"

namespace gpucall {

// A view.
class BroadcastReader {
 public:
  // `data`: dense elements of `element_size` (1, 2, 4, 8 or 16) bytes and shape `from`, which
  // broadcasts to `to`. Neither is empty.
  BroadcastReader(const std::byte* data, size_t element_size, absl::Span<const int64_t> from,
                  absl::Span<const int64_t> to);

  // Writes elements start .. start + count - 1 of the broadcast tensor.
  void Read(int64_t start, int64_t count, std::byte* out) const;

  // Where element `index` of the broadcast tensor lies, in elements from `data`.
  int64_t Offset(int64_t index) const;

 private:
  struct Dimension {
    int64_t size, stride;  // elements; stride 0: broadcast
  };
  template <size_t element_size>
  void ReadElements(int64_t start, int64_t count, std::byte* out) const;
  int64_t OffsetOfRun(int64_t run) const;

  const std::byte* data_;
  size_t element_size_;
  absl::InlinedVector<Dimension, kMaxRank>
      dimensions_;  // innermost first, merged where they can be
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_BROADCAST_H_
