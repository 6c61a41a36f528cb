// The last rows that a window reads, for all output rows of a strip.
#ifndef GPUCALL_KERNELS_CPU_ROW_RING_H_
#define GPUCALL_KERNELS_CPU_ROW_RING_H_

#include <algorithm>
#include <vector>

#include "kernels/cpu/aligned_array.h"
#include "kernels/cpu/loops/filter_loops.h"
#include "kernels/cpu/padded_rows.h"

namespace gpucall::cpu {

// Elements of a row with the slack that loops need.
template <class T>
constexpr int64_t RowStride(int64_t count) {
  constexpr int64_t kSlack = kRowSlackBytes / sizeof(T);
  return (count + 2 * kSlack - 1) / kSlack * kSlack;
}

// Columns of a strip for which `rows` rows of T stay in the first-level cache, or twice `halo`
// columns where that is more. REQUIRES: channels >= 1.
template <class T>
int64_t StripColumns(int64_t rows, int64_t halo, int64_t channels) {
  constexpr int64_t kCacheBytes = 32 << 10;
  constexpr int64_t kLeast = 256, kMultiple = 128;  // elements
  const int64_t fitting = kCacheBytes / static_cast<int64_t>(sizeof(T)) / rows;
  const int64_t elements = std::max(kLeast, fitting / kMultiple * kMultiple);
  return std::max({elements / std::min(channels, kMaxStripChannels), 2 * halo, int64_t{1}});
}

template <class T>
class RowRing {
 public:
  RowRing(int64_t rows, int64_t columns)
      : rows_(rows), stride_(RowStride<T>(columns)), data_(Size(rows, columns)) {
    // Loops read the slack of rows: any values do, once there are some.
    std::fill_n(data_.data(), Size(rows, columns), T(0));
    for (int64_t i = 0; i < 2 * rows; ++i) pointers_.push_back(row(i));
  }
  T* row(int64_t index) const { return data_.data() + index % rows_ * stride_; }
  // Pointers to rows index .. index + rows - 1.
  const T* const* RowsFrom(int64_t index) const { return pointers_.data() + index % rows_; }

 private:
  static size_t Size(int64_t rows, int64_t columns) {
    return static_cast<size_t>(rows * RowStride<T>(columns));
  }
  int64_t rows_, stride_;
  AlignedArray<T> data_;
  std::vector<const T*> pointers_;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_ROW_RING_H_
