#include "kernels/image_histogram.h"

#include <algorithm>

#include "kernels/cpu/image.h"
#include "kernels/cpu/image_rows.h"

namespace gpucall::cpu {
namespace {

int64_t CountOf(const image::Sizes& sizes) { return sizes.rows * sizes.columns * sizes.channels; }

// Four counts of each value, so that equal neighbours do not wait for each other.
void CountBytes(const image::Arguments& a, int64_t n, int64_t* bins) {
  int64_t counts[4][256] = {};
  const int64_t count = CountOf(a.in);
  for (int64_t i = 0; i < count; ++i) ++counts[i % 4][image::Load<uint8_t>(a.x, n * count + i)];
  for (int v = 0; v < 256; ++v) {
    const int64_t bin = image::BinOf(a, v);
    for (int k = 0; bin >= 0 && k < 4; ++k) bins[bin] += counts[k][v];
  }
}

template <class T>
void Count(const image::Arguments& a, int64_t n, int64_t* bins) {
  const int64_t count = CountOf(a.in);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bin = image::BinOf(a, static_cast<double>(image::Load<T>(a.x, n * count + i)));
    if (bin >= 0) ++bins[bin];
  }
}

}  // namespace

void Histogram(const image::Arguments& a, image::Element element) {
  for (int64_t n = 0; n < a.in.images; ++n) {
    int64_t* const bins = static_cast<int64_t*>(a.out) + n * a.option;
    std::fill_n(bins, a.option, 0);
    switch (element) {
      case image::Element::kUint8:
        CountBytes(a, n, bins);
        break;
      case image::Element::kUint16:
        Count<uint16_t>(a, n, bins);
        break;
      case image::Element::kInt16:
        Count<int16_t>(a, n, bins);
        break;
      case image::Element::kFloat32:
        Count<float>(a, n, bins);
        break;
    }
  }
}

void OtsuValue(const image::Arguments& a) { MakePixels<image::OtsuPixel>(a, 512); }

void EqualiseTable(const image::Arguments& a) { MakePixels<image::EqualiseTablePixel>(a, 3); }

}  // namespace gpucall::cpu
