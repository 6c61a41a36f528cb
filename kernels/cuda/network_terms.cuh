// Where a convolution's outputs, and the terms of their sums, are.
#ifndef GPUCALL_KERNELS_CUDA_NETWORK_TERMS_CUH_
#define GPUCALL_KERNELS_CUDA_NETWORK_TERMS_CUH_

#include "kernels/cuda/network_common.cuh"

namespace gpucall::cuda {

inline constexpr int kTerms = 8;  // summed between barriers

// A term's element from a window's first: where it is (x), and its row and column (y). One load.
using Term = longlong2;
__device__ inline int RowOf(const Term& term) { return static_cast<int>(term.y >> 32); }
__device__ inline int ColumnOf(const Term& term) { return static_cast<int>(term.y); }

// Of numbers that are seldom large.
__device__ inline long long Divide(long long a, long long b) {
  return ((a | b) >> 32) == 0 ? static_cast<unsigned>(a) / static_cast<unsigned>(b) : a / b;
}

// Output positions are numbered through the images.
struct Position {
  long long image, y, x;
  __device__ Position(const WindowShape& s, long long position) {
    const long long each = s.out_rows * s.out_columns;
    image = Divide(position, each);
    const long long place = position - image * each;
    y = Divide(place, s.out_columns);
    x = place - y * s.out_columns;
  }
};

// Strides of an array of images.
struct Strides {
  long long image, channel, row, column;
  __device__ Strides(const WindowShape& s, long long channels, long long rows, long long columns)
      : image(channels * rows * columns),
        channel(s.channels_last ? 1 : rows * columns),
        row(s.channels_last ? columns * channels : columns),
        column(s.channels_last ? channels : 1) {}
};

// The terms of one place in every step: a channel and a place in the window, kTerms on each time.
class Terms {
 public:
  __device__ Terms(const WindowShape& s, int first) : rows_(s.size[0]), columns_(s.size[1]) {
    const long long window = rows_ * columns_;
    Set(first, window, channel_, y_, x_);
    Set(kTerms, window, next_channel_, next_y_, next_x_);
  }
  __device__ Term Take(const WindowShape& s, const Strides& strides) {
    const long long y = y_ * s.dilation[0], x = x_ * s.dilation[1];
    const Term term = {channel_ * strides.channel + y * strides.row + x * strides.column,
                       y << 32 | x};
    x_ += next_x_;
    y_ += next_y_ + (x_ >= columns_ ? 1 : 0);
    x_ -= x_ >= columns_ ? columns_ : 0;
    channel_ += next_channel_ + (y_ >= rows_ ? 1 : 0);
    y_ -= y_ >= rows_ ? rows_ : 0;
    return term;
  }

 private:
  __device__ void Set(int term, long long window, long long& channel, long long& y,
                      long long& x) const {
    channel = Divide(term, window);
    const long long place = term - channel * window;
    y = Divide(place, columns_);
    x = place - y * columns_;
  }

  const long long rows_, columns_;
  long long channel_, y_, x_, next_channel_, next_y_, next_x_;
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_NETWORK_TERMS_CUH_
