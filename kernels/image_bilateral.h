// Means weighted by distance and by difference.
#ifndef GPUCALL_KERNELS_IMAGE_BILATERAL_H_
#define GPUCALL_KERNELS_IMAGE_BILATERAL_H_

#include "kernels/image_elements.h"

namespace gpucall::image {

// option: the radius r. table: (2r + 1)^2 weights of distances, 0 where a pixel takes no part; of
// uint8 then 255 channels + 1 weights of differences, summed over 1 or 3 channels. numbers: the
// factor of squared differences in the exponent of float32, then the element outside.
template <class T, int kChannels>
struct BilateralPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const int64_t radius = a.option, side = 2 * radius + 1;
    const int64_t centre = PixelAt(a.in, n, y, x) * kChannels;
    float sums[kChannels] = {}, weights = 0;
    for (int64_t i = 0; i < side; ++i) {
      const int64_t row = Inside(a.border, y + i - radius, a.in.rows);
      for (int64_t j = 0; j < side; ++j) {
        const auto near = static_cast<float>(a.table[i * side + j]);
        if (near == 0) continue;
        const int64_t column = Inside(a.border, x + j - radius, a.in.columns);
        const bool outside = row < 0 || column < 0;
        const int64_t from = outside ? 0 : PixelAt(a.in, n, row, column) * kChannels;
        float values[kChannels], difference = 0;
        for (int c = 0; c < kChannels; ++c) {
          values[c] = outside ? static_cast<float>(a.numbers[1])
                              : static_cast<float>(Load<T>(a.x, from + c));
          difference += fabsf(values[c] - static_cast<float>(Load<T>(a.x, centre + c)));
        }
        const float weight = near * Alike(a, difference, side * side);
        weights += weight;
        for (int c = 0; c < kChannels; ++c) sums[c] += weight * values[c];
      }
    }
    for (int c = 0; c < kChannels; ++c) {
      Store<T>(a.out, centre + c, Rounded<T>(sums[c] / weights));
    }
  }

 private:
  static GPUCALL_IMAGE_FN float Alike(const Arguments& a, float difference, int64_t differences) {
    if constexpr (std::is_floating_point_v<T>) {
      return expf(difference * difference * static_cast<float>(a.numbers[0]));
    } else {
      return static_cast<float>(a.table[differences + static_cast<int64_t>(difference)]);
    }
  }
};

// run(BilateralPixel) of kUint8 or kFloat32 and of 1 or 3 channels.
template <class Run>
auto VisitBilateral(const Arguments& a, Element element, Run run) {
  const bool gray = a.in.channels == 1;
  if (element == Element::kUint8) {
    return gray ? run(BilateralPixel<uint8_t, 1>()) : run(BilateralPixel<uint8_t, 3>());
  }
  return gray ? run(BilateralPixel<float, 1>()) : run(BilateralPixel<float, 3>());
}

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_BILATERAL_H_
