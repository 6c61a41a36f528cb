// 2-D image filters. Pure functions; any sizes, including empty images, windows larger than the
// image and even windows. Pointers need no alignment; the output must not overlap an input.
#ifndef GPUCALL_KERNELS_CPU_FILTER_H_
#define GPUCALL_KERNELS_CPU_FILTER_H_

#include <cstdint>
#include <span>

#include "kernels/cpu/element_type.h"

namespace gpucall::cpu {

// What lies outside the image; scipy.ndimage's names.
enum class Border : uint8_t { kNearest, kReflect, kMirror, kWrap, kConstant };

// rows x columns x channels, row-major; channels are filtered each by itself.
struct Image {
  const void* data = nullptr;
  ElementType type = ElementType::kUint8;  // kUint8, kFloat32 or kFloat64
  int64_t rows = 0, columns = 0, channels = 1;
  bool empty() const { return rows == 0 || columns == 0 || channels == 0; }
};

// Window element (i, j) for output (y, x) is image (y + i - rows_before, x + j - columns_before).
struct Window {
  int64_t rows = 1, columns = 1;  // each >= 1
  int64_t rows_before = 0, columns_before = 0;
  Border border = Border::kReflect;
  double cval = 0;  // outside the image, for kConstant; representable in the image's type
};

// As large as the image. Results are converted once, at the end, by FindConvertLoop: to an integer
// type nearest, halves to even, saturating.
struct Output {
  void* data = nullptr;
  ElementType type = ElementType::kUint8;
};

// Sums are made in float32: in float64 where image or output is float64, where there are more than
// 256 weights, and for a uint8 image whose sums could pass 2^24. The sum of 256 rounding errors
// stays below 2e-5 of sum |weight * element|. Of a uint8 image with equal weights they are exact.

// out = sum over (i, j) of row_weights[i] * column_weights[j] * element (i, j): first along the
// columns, then down the rows. Every weight counts, so 0 times NaN is NaN. Outside the image a
// constant border is cval for the product of both, not (as scipy.ndimage, whose passes pad their
// own inputs) for each.
// REQUIRES: window.rows and window.columns of weights.
void SeparableFilter(const Image& image, const Window& window, std::span<const double> row_weights,
                     std::span<const double> column_weights, const Output& output);

// out = sum over (i, j) of weights[i * window.columns + j] * element (i, j), but for weights of 0,
// whose elements take no part (as scipy.ndimage).
void DenseFilter(const Image& image, const Window& window, std::span<const double> weights,
                 const Output& output);

// out = the element of rank `rank` of the window's n, from 0. NaN ranks last; of zeros the negative
// first. Fastest for the median, rank floor(n / 2). REQUIRES: at most 2^16 - 1 elements in the
// window, and a rank below n.
void RankFilter(const Image& image, const Window& window, int64_t rank, const Output& output);

// out = the element of the first or the last rank, in a time that hardly depends on the window.
enum class Extreme : uint8_t { kMinimum, kMaximum };
void ExtremeFilter(const Image& image, const Window& window, Extreme extreme, const Output& output);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_FILTER_H_
