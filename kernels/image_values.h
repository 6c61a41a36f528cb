// Pixels that depend on their own values and on a few numbers: thresholds, look-ups, differences.
#ifndef GPUCALL_KERNELS_IMAGE_VALUES_H_
#define GPUCALL_KERNELS_IMAGE_VALUES_H_

#include "kernels/image_elements.h"

namespace gpucall::image {

// Arguments::option of Threshold, with OpenCV's meaning, and of AboveMean (the first two).
enum class Threshold : int { kBinary, kBinaryInv, kTrunc, kToZero, kToZeroInv };

// numbers: threshold (unless `second` has a uint8 for each image), what it is as an element, and
// the element that is white, all representable.
template <class T>
struct ThresholdPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const int64_t i = PixelAt(a.out_sizes, n, y, x);
    const T value = Load<T>(a.x, i);
    const bool given = a.second == nullptr;
    const T kept =
        given ? static_cast<T>(a.numbers[1]) : static_cast<T>(Load<uint8_t>(a.second, n));
    const float threshold = given ? static_cast<float>(a.numbers[0]) : static_cast<float>(kept);
    const T white = static_cast<T>(a.numbers[2]);
    const bool above = static_cast<float>(value) > threshold;
    T result = value;
    switch (static_cast<Threshold>(a.option)) {
      case Threshold::kBinary:
        result = above ? white : T{0};
        break;
      case Threshold::kBinaryInv:
        result = above ? T{0} : white;
        break;
      case Threshold::kTrunc:
        result = above ? kept : value;
        break;
      case Threshold::kToZero:
        result = above ? value : T{0};
        break;
      case Threshold::kToZeroInv:
        result = above ? T{0} : value;
        break;
    }
    Store<T>(a.out, i, result);
  }
};

// Of uint8, against `second`, float32. numbers: what that is divided by, what is taken off the
// mean, the element that is white.
struct AboveMeanPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const int64_t i = PixelAt(a.out_sizes, n, y, x);
    const double mean = rint(static_cast<double>(Load<float>(a.second, i)) / a.numbers[0]);
    const bool above = Load<uint8_t>(a.x, i) - Clamp(mean, 0.0, 255.0) > -a.numbers[1];
    const bool inverse = static_cast<Threshold>(a.option) == Threshold::kBinaryInv;
    Store<uint8_t>(a.out, i, above != inverse ? static_cast<uint8_t>(a.numbers[2]) : uint8_t{0});
  }
};

// `second`: 256 elements for each image.
struct LookUpPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const int64_t i = PixelAt(a.out_sizes, n, y, x);
    Store<uint8_t>(a.out, i, Load<uint8_t>(a.second, 256 * n + Load<uint8_t>(a.x, i)));
  }
};

// x + numbers[0] * (x - second), which is float32.
template <class T>
struct SharpenPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const int64_t i = PixelAt(a.out_sizes, n, y, x);
    const auto value = static_cast<float>(Load<T>(a.x, i));
    const float difference = value - Load<float>(a.second, i);
    Store<T>(a.out, i, Rounded<T>(value + static_cast<float>(a.numbers[0]) * difference));
  }
};

// (x * numbers[0] - table[c]) / table[channels + c], float32.
template <class T>
struct NormalisePixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    const int64_t channels = a.out_sizes.channels;
    const int64_t first = PixelAt(a.out_sizes, n, y, x) * channels;
    for (int64_t c = 0; c < channels; ++c) {
      const auto value = static_cast<double>(Load<T>(a.x, first + c));
      const double scaled = (value * a.numbers[0] - a.table[c]) / a.table[channels + c];
      Store<float>(a.out, first + c, static_cast<float>(scaled));
    }
  }
};

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_VALUES_H_
