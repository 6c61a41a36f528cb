// Colours of one pixel, by OpenCV's formulas. Integers are exact: OpenCV's fixed point.
#ifndef GPUCALL_KERNELS_IMAGE_COLOUR_H_
#define GPUCALL_KERNELS_IMAGE_COLOUR_H_

#include <cfloat>

#include "kernels/image_elements.h"

namespace gpucall::image {

// Arguments::option.
enum class Conversion : int {
  kRgbToGray,
  kGrayToRgb,
  kRgbToHsv,
  kHsvToRgb,
  kRgbToYcrcb,
  kYcrcbToRgb
};

template <class T>
struct Rgb {
  T r, g, b;
};

template <class T>
GPUCALL_IMAGE_FN Rgb<T> LoadRgb(const void* x, int64_t pixel) {
  return {Load<T>(x, 3 * pixel), Load<T>(x, 3 * pixel + 1), Load<T>(x, 3 * pixel + 2)};
}
template <class T>
GPUCALL_IMAGE_FN void StoreRgb(void* out, int64_t pixel, T r, T g, T b) {
  Store<T>(out, 3 * pixel, r);
  Store<T>(out, 3 * pixel + 1, g);
  Store<T>(out, 3 * pixel + 2, b);
}

// value / 2^bits, to nearest, halves up.
GPUCALL_IMAGE_FN int64_t Descale(int64_t value, int bits) {
  return (value + (int64_t{1} << (bits - 1))) >> bits;
}
template <class T>
GPUCALL_IMAGE_FN T Saturated(int64_t value) {
  return static_cast<T>(Clamp<int64_t>(value, 0, std::numeric_limits<T>::max()));
}

template <class T>
struct RgbToGray {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t pixel) {
    const Rgb<T> x = LoadRgb<T>(a.x, pixel);
    if constexpr (std::is_floating_point_v<T>) {
      Store<T>(a.out, pixel, x.r * 0.299f + x.g * 0.587f + x.b * 0.114f);
    } else {
      const int64_t sum = int64_t{x.r} * 9798 + int64_t{x.g} * 19235 + int64_t{x.b} * 3735;
      Store<T>(a.out, pixel, static_cast<T>(Descale(sum, 15)));
    }
  }
};

template <class T>
struct GrayToRgb {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t pixel) {
    const T gray = Load<T>(a.x, pixel);
    StoreRgb<T>(a.out, pixel, gray, gray, gray);
  }
};

// Y, Cr, Cb.
template <class T>
struct RgbToYcrcb {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t pixel) {
    const Rgb<T> x = LoadRgb<T>(a.x, pixel);
    if constexpr (std::is_floating_point_v<T>) {
      const float y = x.r * 0.299f + x.g * 0.587f + x.b * 0.114f;
      StoreRgb<T>(a.out, pixel, y, (x.r - y) * 0.713f + 0.5f, (x.b - y) * 0.564f + 0.5f);
    } else {
      constexpr int64_t kHalf = int64_t{std::numeric_limits<T>::max()} / 2 + 1;
      const int64_t y =
          Descale(int64_t{x.r} * 4899 + int64_t{x.g} * 9617 + int64_t{x.b} * 1868, 14);
      StoreRgb<T>(a.out, pixel, static_cast<T>(y),
                  Saturated<T>(Descale((x.r - y) * 11682, 14) + kHalf),
                  Saturated<T>(Descale((x.b - y) * 9241, 14) + kHalf));
    }
  }
};

template <class T>
struct YcrcbToRgb {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t pixel) {
    const Rgb<T> x = LoadRgb<T>(a.x, pixel);  // Y, Cr, Cb
    if constexpr (std::is_floating_point_v<T>) {
      const float y = x.r, cr = x.g - 0.5f, cb = x.b - 0.5f;
      StoreRgb<T>(a.out, pixel, y + cr * 1.403f, y + cr * -0.714f + cb * -0.344f, y + cb * 1.773f);
    } else {
      constexpr int64_t kHalf = int64_t{std::numeric_limits<T>::max()} / 2 + 1;
      const int64_t y = x.r, cr = x.g - kHalf, cb = x.b - kHalf;
      StoreRgb<T>(a.out, pixel, Saturated<T>(y + Descale(cr * 22987, 14)),
                  Saturated<T>(y + Descale(cb * -5636 + cr * -11698, 14)),
                  Saturated<T>(y + Descale(cb * 29049, 14)));
    }
  }
};

// Hue of uint8 in half degrees, of float32 in degrees.
template <class T>
struct RgbToHsv {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t pixel) {
    const Rgb<T> x = LoadRgb<T>(a.x, pixel);
    const T larger = x.r > x.g ? x.r : x.g, smaller = x.r < x.g ? x.r : x.g;
    const T value = larger > x.b ? larger : x.b, least = smaller < x.b ? smaller : x.b;
    if constexpr (std::is_floating_point_v<T>) {
      const float range = value - least, scale = 60.0f / (range + FLT_EPSILON);
      float hue = (x.g - x.b) * scale;
      if (value != x.r) {
        hue = value == x.g ? (x.b - x.r) * scale + 120.0f : (x.r - x.g) * scale + 240.0f;
      }
      StoreRgb<T>(a.out, pixel, hue < 0 ? hue + 360.0f : hue, range / (fabsf(value) + FLT_EPSILON),
                  value);
    } else {
      const int v = value, range = value - least;
      int hue = x.g - x.b;
      if (value != x.r) hue = value == x.g ? x.b - x.r + 2 * range : x.r - x.g + 4 * range;
      hue = static_cast<int>(Descale(int64_t{hue} * Reciprocal(180.0 / 6, range), 12));
      StoreRgb<T>(a.out, pixel, static_cast<T>(hue < 0 ? hue + 180 : hue),
                  static_cast<T>(Descale(range * Reciprocal(255, v), 12)), value);
    }
  }

 private:
  // Of OpenCV's tables.
  static GPUCALL_IMAGE_FN int64_t Reciprocal(double numerator, int by) {
    return by == 0 ? 0 : static_cast<int64_t>(rint(numerator * 4096 / by));
  }
};

template <class T>
struct HsvToRgb {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t pixel) {
    constexpr bool kFloat = std::is_floating_point_v<T>;
    const Rgb<T> x = LoadRgb<T>(a.x, pixel);  // hue, saturation, value
    const float scale = kFloat ? 1.0f : 1.0f / 255;
    const float turns = static_cast<float>(x.r) * (kFloat ? 6.0f / 360 : 6.0f / 180);
    const float s = static_cast<float>(x.g) * scale, v = static_cast<float>(x.b) * scale;
    const float whole = floorf(turns), part = turns - whole;
    const float low = v * (1 - s), falling = v * (1 - s * part), rising = v * (1 - s * (1 - part));
    const float sector = whole - 6 * floorf(whole / 6);  // NaN of a hue that is not finite
    const float r = sector == 0 || sector == 5 ? v
                    : sector == 1              ? falling
                    : sector == 4              ? rising
                                               : low;
    const float g = sector == 1 || sector == 2 ? v
                    : sector == 0              ? rising
                    : sector == 3              ? falling
                                               : low;
    const float b = sector == 3 || sector == 4 ? v
                    : sector == 2              ? rising
                    : sector == 5              ? falling
                                               : low;
    StoreRgb<T>(a.out, pixel, Rounded<T>(r * kWhite<T>), Rounded<T>(g * kWhite<T>),
                Rounded<T>(b * kWhite<T>));
  }
};

// One of them as a kernel.
template <template <class> class Colour, class T>
struct ColourPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t y, int64_t x) {
    Colour<T>::Pixel(a, PixelAt(a.out_sizes, n, y, x));
  }
};

// run(ColourPixel) of the conversion that a.option is. REQUIRES: elements that it takes: kUint8,
// kFloat32 and, but for HSV, kUint16.
template <class T, class Run>
auto VisitConversion(Conversion conversion, Run run) {
  switch (conversion) {
    case Conversion::kRgbToGray:
      return run(ColourPixel<RgbToGray, T>());
    case Conversion::kGrayToRgb:
      return run(ColourPixel<GrayToRgb, T>());
    case Conversion::kRgbToHsv:
      return run(ColourPixel<RgbToHsv, T>());
    case Conversion::kHsvToRgb:
      return run(ColourPixel<HsvToRgb, T>());
    case Conversion::kRgbToYcrcb:
      return run(ColourPixel<RgbToYcrcb, T>());
    default:
      return run(ColourPixel<YcrcbToRgb, T>());
  }
}
template <class Run>
auto VisitColour(const Arguments& a, Element element, Run run) {
  const auto conversion = static_cast<Conversion>(a.option);
  switch (element) {
    case Element::kUint8:
      return VisitConversion<uint8_t>(conversion, run);
    case Element::kUint16:
      return VisitConversion<uint16_t>(conversion, run);
    default:
      return VisitConversion<float>(conversion, run);
  }
}

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_COLOUR_H_
