#include "server/device/cpu_broadcast.h"

#include <algorithm>
#include <cstring>

namespace gpucall {
namespace {

template <size_t size>
struct Bytes {
  std::byte bytes[size];
};

// Writes the first `count` elements of `period` elements at `source`, repeated, from element
// `phase` on.
template <class T>
void Tile(const T* source, int64_t period, int64_t phase, int64_t count, T* out) {
  int64_t done = std::min(period, count);
  for (int64_t i = 0; i < done; ++i) {
    out[i] = source[phase];
    if (++phase == period) phase = 0;
  }
  while (done < count) {  // what is written repeats with the period: copy it on
    const int64_t further = std::min(done / period * period, count - done);
    std::memcpy(out + done, out, static_cast<size_t>(further) * sizeof(T));
    done += further;
  }
}

template <class T>
void CopyRun(const T* source, int64_t count, T* out) {
  constexpr int64_t kShort = 16;
  if (count > kShort) {
    std::memcpy(out, source, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = source[i];
  }
}

}  // namespace

BroadcastReader::BroadcastReader(const std::byte* data, size_t element_size,
                                 absl::Span<const int64_t> from, absl::Span<const int64_t> to)
    : data_(data), element_size_(element_size) {
  int64_t dense = 1;  // the stride of a dimension that is not broadcast
  for (size_t i = 0; i < to.size(); ++i) {
    const int64_t size = to[to.size() - 1 - i];
    const int64_t own = i < from.size() ? from[from.size() - 1 - i] : 1;
    const int64_t stride = own == 1 ? 0 : dense;
    dense *= own;
    if (size == 1) continue;
    if (!dimensions_.empty() && stride == dimensions_.back().stride * dimensions_.back().size) {
      dimensions_.back().size *= size;
    } else {
      dimensions_.push_back({size, stride});
    }
  }
  if (dimensions_.empty()) dimensions_.push_back({1, 1});
}

int64_t BroadcastReader::OffsetOfRun(int64_t run) const {
  int64_t offset = 0;
  for (size_t d = 1; d < dimensions_.size(); ++d) {
    offset += run % dimensions_[d].size * dimensions_[d].stride;
    run /= dimensions_[d].size;
  }
  return offset;
}

int64_t BroadcastReader::Offset(int64_t index) const {
  const Dimension& inner = dimensions_.front();
  return OffsetOfRun(index / inner.size) + index % inner.size * inner.stride;
}

template <size_t element_size>
void BroadcastReader::ReadElements(int64_t start, int64_t count, std::byte* out) const {
  using T = Bytes<element_size>;
  const T* data = reinterpret_cast<const T*>(data_);
  T* target = reinterpret_cast<T*>(out);
  const Dimension inner = dimensions_.front();
  const bool tiles = inner.stride == 1 && dimensions_.size() > 1 && dimensions_[1].stride == 0;
  // Runs are along the innermost dimension, or, where the next one repeats it, along both.
  const int64_t repeats = tiles ? dimensions_[1].size : 1;
  const int64_t run_size = inner.size * repeats;
  int64_t place = start % run_size;
  for (int64_t run = start / run_size; count > 0; ++run) {
    const int64_t run_count = std::min(run_size - place, count);
    const T* source = data + OffsetOfRun(run * repeats);
    if (tiles) {
      Tile(source, inner.size, place % inner.size, run_count, target);
    } else if (inner.stride == 0) {
      std::fill_n(target, run_count, *source);
    } else {
      CopyRun(source + place, run_count, target);
    }
    count -= run_count;
    target += run_count;
    place = 0;
  }
}

void BroadcastReader::Read(int64_t start, int64_t count, std::byte* out) const {
  switch (element_size_) {
    case 1:
      return ReadElements<1>(start, count, out);
    case 2:
      return ReadElements<2>(start, count, out);
    case 4:
      return ReadElements<4>(start, count, out);
    case 8:
      return ReadElements<8>(start, count, out);
    default:
      return ReadElements<16>(start, count, out);
  }
}

}  // namespace gpucall
