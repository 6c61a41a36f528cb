// Pixels that are weighted sums of others: other sizes, affine maps, smoothing along an axis.
#ifndef GPUCALL_KERNELS_IMAGE_SAMPLING_H_
#define GPUCALL_KERNELS_IMAGE_SAMPLING_H_

#include "kernels/image_elements.h"

namespace gpucall::image {

// numbers: taps of a row of the output and of a column. table: for each row so many pairs (row of
// the input, weight), then for each column. option 1: integers' halves are rounded up.
template <class T>
struct ResamplePixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const auto row_taps = static_cast<int64_t>(a.numbers[0]);
    const auto column_taps = static_cast<int64_t>(a.numbers[1]);
    const double* rows = a.table + 2 * row_taps * y;
    const double* columns = a.table + 2 * row_taps * a.out_sizes.rows + 2 * column_taps * x;
    const int64_t channels = a.out_sizes.channels;
    const int64_t to = PixelAt(a.out_sizes, n, y, x) * channels;
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0;
      for (int64_t i = 0; i < row_taps; ++i) {
        const int64_t from = PixelAt(a.in, n, static_cast<int64_t>(rows[2 * i]), 0);
        float line = 0;
        for (int64_t j = 0; j < column_taps; ++j) {
          const int64_t pixel = from + static_cast<int64_t>(columns[2 * j]);
          line += static_cast<float>(columns[2 * j + 1]) *
                  static_cast<float>(Load<T>(a.x, pixel * channels + c));
        }
        sum += static_cast<float>(rows[2 * i + 1]) * line;
      }
      if (a.option == 1 && !std::is_floating_point_v<T>) sum = floorf(sum + 0.5f);
      Store<T>(a.out, to + c, Rounded<T>(sum));
    }
  }
};

// numbers: the matrix from (x, y) of the output to (x, y) of the input, then the element outside.
// option 1: between four pixels, else the nearest.
template <class T>
struct WarpPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const auto column = static_cast<double>(x), row = static_cast<double>(y);
    const double* m = a.numbers;
    const double from_x = m[0] * column + m[1] * row + m[2];
    const double from_y = m[3] * column + m[4] * row + m[5];
    const int64_t channels = a.out_sizes.channels;
    const int64_t to = PixelAt(a.out_sizes, n, y, x) * channels;
    if (a.option == 0) {
      const auto left = static_cast<int64_t>(floor(from_x + 0.5));
      const auto top = static_cast<int64_t>(floor(from_y + 0.5));
      for (int64_t c = 0; c < channels; ++c) Store<T>(a.out, to + c, At(a, n, top, left, c));
      return;
    }
    const double left = floor(from_x), top = floor(from_y);
    const auto across = static_cast<float>(from_x - left);
    const auto down = static_cast<float>(from_y - top);
    const auto i = static_cast<int64_t>(top), j = static_cast<int64_t>(left);
    for (int64_t c = 0; c < channels; ++c) {
      const float above = Blend(At(a, n, i, j, c), At(a, n, i, j + 1, c), across);
      const float below = Blend(At(a, n, i + 1, j, c), At(a, n, i + 1, j + 1, c), across);
      Store<T>(a.out, to + c, Rounded<T>(Blend(above, below, down)));
    }
  }

 private:
  static GPUCALL_IMAGE_FN T At(const Arguments& a, int64_t n, int64_t y, int64_t x, int64_t c) {
    const int64_t row = Inside(a.border, y, a.in.rows), column = Inside(a.border, x, a.in.columns);
    if (row < 0 || column < 0) return static_cast<T>(a.numbers[6]);
    return Load<T>(a.x, PixelAt(a.in, n, row, column) * a.in.channels + c);
  }
  template <class V>
  static GPUCALL_IMAGE_FN float Blend(V first, V second, float share) {
    return static_cast<float>(first) * (1 - share) + static_cast<float>(second) * share;
  }
};

// Sums of float32 along an axis: option 0 down the rows, 1 along the columns. table: numbers[0]
// weights, an odd number, the middle one for the pixel itself.
struct SmoothPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const auto taps = static_cast<int64_t>(a.numbers[0]);
    const bool down = a.option == 0;
    const int64_t channels = a.in.channels;
    const int64_t size = down ? a.in.rows : a.in.columns;
    const int64_t stride = (down ? a.in.columns : 1) * channels;
    const int64_t line = down ? PixelAt(a.in, n, 0, x) : PixelAt(a.in, n, y, 0);
    const int64_t first = (down ? y : x) - taps / 2;
    const bool within = first >= 0 && first + taps <= size;
    const int64_t to = PixelAt(a.out_sizes, n, y, x) * channels;
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0;
      for (int64_t k = 0; k < taps; ++k) {
        const int64_t at = within ? first + k : Inside(a.border, first + k, size);
        sum += static_cast<float>(a.table[k]) * Load<float>(a.x, line * channels + at * stride + c);
      }
      Store<float>(a.out, to + c, sum);
    }
  }
};

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_SAMPLING_H_
