// Bins of a histogram, and what is made of one with 256 bins.
#ifndef GPUCALL_KERNELS_IMAGE_HISTOGRAM_H_
#define GPUCALL_KERNELS_IMAGE_HISTOGRAM_H_

#include <cfloat>

#include "kernels/image_elements.h"

namespace gpucall::image {

// The bin of a value among a.option of them, whose a.option + 1 edges are a.table, or -1. Each has
// its lower edge, and the last its upper one too.
GPUCALL_IMAGE_FN int64_t BinOf(const Arguments& a, double value) {
  const int64_t bins = a.option;
  if (!(value >= a.table[0] && value <= a.table[bins])) return -1;
  const double width = a.table[bins] - a.table[0];  // 0 where float32 has no edges between
  const double share = width > 0 ? (value - a.table[0]) / width : 0;
  int64_t bin =
      Clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(bins)), 0, bins - 1);
  while (bin > 0 && value < a.table[bin]) --bin;
  while (bin + 1 < bins && value >= a.table[bin + 1]) ++bin;
  return bin;
}

// The threshold that Otsu's method gives for 256 counts, by OpenCV's steps.
struct OtsuPixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t, int64_t) {
    double total = 0, mean = 0;
    for (int i = 0; i < 256; ++i) {
      const auto count = static_cast<double>(Load<int64_t>(a.x, 256 * n + i));
      total += count;
      mean += i * count;
    }
    const double scale = total > 0 ? 1 / total : 0;
    mean *= scale;
    double mean1 = 0, share1 = 0, best = 0;
    int threshold = 0;
    for (int i = 0; i < 256; ++i) {
      const double share = static_cast<double>(Load<int64_t>(a.x, 256 * n + i)) * scale;
      mean1 *= share1;
      share1 += share;
      const double share2 = 1 - share1;
      const double less = share1 < share2 ? share1 : share2;
      const double more = share1 < share2 ? share2 : share1;
      if (less < FLT_EPSILON || more > 1 - FLT_EPSILON) continue;
      mean1 = (mean1 + i * share) / share1;
      const double mean2 = (mean - share1 * mean1) / share2;
      const double between = share1 * share2 * (mean1 - mean2) * (mean1 - mean2);
      if (between > best) {
        best = between;
        threshold = i;
      }
    }
    Store<uint8_t>(a.out, n, static_cast<uint8_t>(threshold));
  }
};

// What each gray value becomes, of 256 counts, by OpenCV's steps.
struct EqualiseTablePixel {
  static GPUCALL_IMAGE_FN void Pixel(const Arguments& a, int64_t n, int64_t, int64_t) {
    int64_t total = 0;
    for (int i = 0; i < 256; ++i) total += Load<int64_t>(a.x, 256 * n + i);
    int first = 0;
    while (first < 255 && Load<int64_t>(a.x, 256 * n + first) == 0) ++first;
    const int64_t least = Load<int64_t>(a.x, 256 * n + first);
    const float scale = total == least ? 0.0f : 255.0f / static_cast<float>(total - least);
    int64_t sum = 0;
    for (int i = 0; i < 256; ++i) {
      if (i > first) sum += Load<int64_t>(a.x, 256 * n + i);
      const uint8_t value = total == least ? static_cast<uint8_t>(first)
                                           : Rounded<uint8_t>(static_cast<float>(sum) * scale);
      Store<uint8_t>(a.out, 256 * n + i, value);
    }
  }
};

}  // namespace gpucall::image

#endif  // GPUCALL_KERNELS_IMAGE_HISTOGRAM_H_
