// Filters' options. proto/gpucall/v1/operation.proto says what each computes.
#ifndef GPUCALL_FILTERS_H_
#define GPUCALL_FILTERS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <variant>
#include <vector>

#include "gpucall/dtype.h"

namespace gpucall {
inline namespace client {

// What a filter reads outside the image; scipy.ndimage's names (a b c d is the image).
enum class BorderMode : uint8_t {
  kReflect,   // c b a | a b c d | d c b
  kNearest,   // a a a | a b c d | d d d
  kMirror,    // d c b | a b c d | c b a
  kWrap,      // b c d | a b c d | a b c
  kConstant,  // k k k | a b c d | k k k, k = cval
};
struct Border {
  BorderMode mode = BorderMode::kReflect;
  double cval = 0;  // kConstant: must be representable in the image's dtype
};

// One number for all axes, or one each: `.size = 3`, `.size = {3, 5}`.
template <typename T>
struct PerAxis {
  PerAxis(T all) : values({all}) {}  // NOLINT: meant to convert
  PerAxis(std::initializer_list<T> each) : values(each) {}
  std::vector<T> values;
};

// The axes that are filtered, in this order, of an array of any rank; none: the first two, of 2 or
// 3 dimensions. Then a derivative's `axis` says which of them: 0 is the first.
using FilterAxes = std::optional<std::vector<int64_t>>;

// Elements of a window that take part, row-major: those that are not 0.
struct Footprint {
  std::vector<int64_t> shape;  // one size for each of the axes
  std::vector<uint8_t> elements;
};

// In all of them output_dtype kUnspecified means the default: the image's dtype, and for Sobel and
// Laplacian of an integer image float32, or float64 where it has 32 bits or more. Origins are
// scipy.ndimage's.
struct GaussianOptions {
  PerAxis<double> sigma = 1;  // pixels, >= 0
  double truncate = 4;        // radius is int(truncate * sigma + 0.5)
  Border border = {};
  DType output_dtype = DType::kUnspecified;
  PerAxis<int32_t> order = 0;  // of the derivative, 0 to 2
  FilterAxes axes = {};
};
struct BoxOptions {
  PerAxis<int64_t> size = 3;  // pixels, 1 to 4095
  PerAxis<int64_t> origin = 0;
  Border border = {};
  DType output_dtype = DType::kUnspecified;
  FilterAxes axes = {};
};
struct SobelOptions {
  int axis = 1;  // 0 or -2: down the rows, 1 or -1: along the columns
  Border border = {};
  DType output_dtype = DType::kUnspecified;
  FilterAxes axes = {};
};
struct LaplacianOptions {
  Border border = {};
  DType output_dtype = DType::kUnspecified;
  FilterAxes axes = {};
};
struct MedianOptions {
  PerAxis<int64_t> size = 3;  // pixels, 1 to 255; of axes at most 65,536 elements together
  PerAxis<int64_t> origin = 0;
  Border border = {};
  DType output_dtype = DType::kUnspecified;
  FilterAxes axes = {};
  std::optional<Footprint> footprint = {};  // in place of size
};
struct CorrelateOptions {
  PerAxis<int64_t> origin = 0;
  Border border = {};
  DType output_dtype = DType::kUnspecified;
  FilterAxes axes = {};
};
struct ConvolveOptions {
  PerAxis<int64_t> origin = 0;
  Border border = {};
  DType output_dtype = DType::kUnspecified;
  FilterAxes axes = {};
};

// Along one axis of an array of any rank.
struct Correlate1dOptions {
  std::vector<double> weights;  // 1 to 4095
  int64_t axis = -1;            // negative: counted from the last
  int64_t origin = 0;
  Border border = {};
  DType output_dtype = DType::kUnspecified;
};
struct Convolve1dOptions {
  std::vector<double> weights;
  int64_t axis = -1;
  int64_t origin = 0;
  Border border = {};
  DType output_dtype = DType::kUnspecified;
};

// Morphology of truth: elements are true where they are not 0, results are bool.
enum class BinaryOp : uint8_t { kErosion, kDilation, kOpening, kClosing };
struct BinaryMorphologyOptions {
  BinaryOp op = BinaryOp::kErosion;
  int64_t iterations = 1;     // 1 to 100
  bool border_value = false;  // outside the array
  PerAxis<int64_t> origin = 0;
  FilterAxes axes = {};                     // none: all
  std::optional<Footprint> structure = {};  // none: an element and its neighbours along each axis
};

// A filter by its options. Correlate and Convolve take a kernel, with a dimension for each of the
// axes, beside the image.
using FilterOptions = std::variant<GaussianOptions, BoxOptions, SobelOptions, LaplacianOptions,
                                   MedianOptions, CorrelateOptions, ConvolveOptions,
                                   Correlate1dOptions, Convolve1dOptions, BinaryMorphologyOptions>;

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_FILTERS_H_
