// The first part of Canny's edges, by OpenCV's steps.
#ifndef GPUCALL_KERNELS_IMAGE_CANNY_H_
#define GPUCALL_KERNELS_IMAGE_CANNY_H_

#include "kernels/image_elements.h"

namespace gpucall::image {

// Of uint8: 0 where there is no edge, 2 where there is, 1 where there is if an edge touches it.
// numbers: low and high, integers. option 1: squares are summed, else absolute values.
struct CannyMapPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const Gradient g = At(a, n, y, x);
    const auto low = static_cast<int64_t>(a.numbers[0]);
    const auto high = static_cast<int64_t>(a.numbers[1]);
    uint8_t result = 0;
    if (g.size > low && IsRidge(a, g, n, y, x)) result = g.size > high ? 2 : 1;
    Store<uint8_t>(a.out, PixelAt(a.out_sizes, n, y, x), result);
  }

 private:
  struct Gradient {
    int64_t dx, dy, size;
  };

  // Of the channel where it is steepest; 0 outside the image, whose pixels are repeated.
  static GPUCALL_IMAGE_FN Gradient At(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    Gradient steepest = {0, 0, 0};
    if (y < 0 || y >= a.in.rows || x < 0 || x >= a.in.columns) return steepest;
    const int64_t rows[3] = {y > 0 ? y - 1 : y, y, y + 1 < a.in.rows ? y + 1 : y};
    const int64_t columns[3] = {x > 0 ? x - 1 : x, x, x + 1 < a.in.columns ? x + 1 : x};
    for (int64_t c = 0; c < a.in.channels; ++c) {
      int64_t p[3][3];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          const int64_t pixel = PixelAt(a.in, n, rows[i], columns[j]);
          p[i][j] = Load<uint8_t>(a.x, pixel * a.in.channels + c);
        }
      }
      Gradient g;
      g.dx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
      g.dy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
      g.size = a.option == 1 ? g.dx * g.dx + g.dy * g.dy : Absolute(g.dx) + Absolute(g.dy);
      if (c == 0 || g.size > steepest.size) steepest = g;
    }
    return steepest;
  }

  static GPUCALL_IMAGE_FN int64_t Absolute(int64_t value) { return value < 0 ? -value : value; }

  // Whether both neighbours in the gradient's direction are less steep.
  static GPUCALL_IMAGE_FN bool IsRidge(const Arguments& a, const Gradient& g, int64_t n, int64_t y,
                                       int64_t x) {
    constexpr int64_t kTan22 = 13573;  // of 22.5 degrees, times 2^15
    const int64_t across = Absolute(g.dx) * kTan22, down = Absolute(g.dy) << 15;
    if (down < across) {
      return g.size > At(a, n, y, x - 1).size && g.size >= At(a, n, y, x + 1).size;
    }
    if (down > across + (Absolute(g.dx) << 16)) {
      return g.size > At(a, n, y - 1, x).size && g.size >= At(a, n, y + 1, x).size;
    }
    const int64_t side = (g.dx ^ g.dy) < 0 ? -1 : 1;
    return g.size > At(a, n, y - 1, x - side).size && g.size > At(a, n, y + 1, x + side).size;
  }
};

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_CANNY_H_
