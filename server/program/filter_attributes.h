// Filters: what a caller asks for, and the two forms that filters of any axes are made of.
#ifndef GPUCALL_SERVER_PROGRAM_FILTER_ATTRIBUTES_H_
#define GPUCALL_SERVER_PROGRAM_FILTER_ATTRIBUTES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "server/base/dtype.h"
#include "server/base/shape.h"
#include "server/program/border.h"

namespace gpucall {

// As a caller gives them: negative ones count from the last.
using Axes = absl::InlinedVector<int64_t, 8>;

enum class FilterKind : uint8_t {
  kGaussian,
  kBox,
  kSobel,
  kLaplacian,
  kMedian,
  kCorrelate,
  kConvolve,
  kMinimum,
  kMaximum,
  kRank,
  kPercentile,
  kGreyErosion,
  kGreyDilation,
  kPrewitt,
  kScharr,
  // Several operations each, see composite.h.
  kGreyOpening,
  kGreyClosing,
  kMorphologicalGradient,
  kWhiteTophat,
  kBlackTophat,
  kGaussianLaplace,
  kGaussianGradientMagnitude,
  // NdFilterAttributes only.
  kCorrelate1d,
  kConvolve1d,
  kBinaryErosion,
  kBinaryDilation,
  kBinaryOpening,
  kBinaryClosing
};
// A filter over rows and columns.
struct FilterAttributes {
  FilterKind kind = FilterKind::kGaussian;
  BorderMode mode = BorderMode::kReflect;
  double cval = 0;
  DType output_dtype = DType::kUnspecified;  // unspecified: the filter's default
  // Those that the kind uses; pairs are (rows, columns).
  std::array<double, 2> sigma = {0, 0};
  double truncate = 4;
  std::array<int, 2> order = {0, 0};  // of a Gaussian's derivative
  std::array<int64_t, 2> size = {1, 1};
  std::array<int64_t, 2> origin = {0, 0};
  int64_t rank = 0;
  double percentile = 0;
  int axis = 1;  // 0: down the rows, 1: along the columns
  bool operator==(const FilterAttributes&) const = default;
};

template <class T>
using PerAxis = absl::InlinedVector<T, 4>;

// Elements of a window that take part: row-major, one byte for each, 0 for none.
struct Footprint {
  Shape shape = {};
  std::string elements = {};
  bool operator==(const Footprint&) const = default;
};

// A filter over any axes. Lists have one value for all axes, or one for each.
struct NdFilterAttributes {
  FilterKind kind = FilterKind::kGaussian;
  std::optional<Axes> axes = {};  // none: the first two of 2 or 3; all, of binary filters
  PerAxis<BorderMode> modes = {BorderMode::kReflect};
  double cval = 0;
  DType output_dtype = DType::kUnspecified;  // unspecified: the filter's default
  // Those that the kind uses.
  PerAxis<double> sigma = {0.0};
  double truncate = 4;
  PerAxis<int> order = {0};
  PerAxis<int64_t> size = {1};
  PerAxis<int64_t> origin = {0};
  std::optional<Footprint> footprint = {};  // in place of sizes
  int64_t rank = 0;
  double percentile = 0;
  int64_t axis = -1;                 // of derivatives: which of the axes
  std::vector<double> weights = {};  // of 1-D correlations
  int64_t iterations = 1;            // of binary filters
  bool operator==(const NdFilterAttributes&) const = default;
};

// One pass of a filter, along dimension `axis`. Element k of the window of element e is element
// e + k - before of the line.
struct LineFilterAttributes {
  enum class Op : uint8_t { kSum, kMinimum, kMaximum };
  Op op = Op::kSum;
  int64_t axis = 0;
  int64_t size = 1, before = 0;
  std::vector<double> weights = {};  // of sums, `size` of them
  double divisor = 1;                // of sums, which are divided by it
  BorderMode mode = BorderMode::kReflect;
  double cval = 0;
  DType output_dtype = DType::kUnspecified;  // of sums; minima and maxima keep the dtype
  bool operator==(const LineFilterAttributes&) const = default;
};

// A filter over windows of any rank: the sum of elements times the weights in a second, float64
// input, or the element of a rank. Lists have a value for each dimension of the window.
struct WindowFilterAttributes {
  enum class Form : uint8_t { kSum, kRank };
  Form form = Form::kRank;
  Shape axes = {};  // of the array
  Shape size = {}, before = {};
  PerAxis<BorderMode> modes = {};
  std::string footprint = {};  // of ranks: as Footprint's; empty: all elements
  int64_t rank = 0;            // among those of the footprint; NaN comes last
  bool flip = false;           // of sums: the weights are read backwards
  double cval = 0;
  DType output_dtype = DType::kUnspecified;  // of sums; ranks keep the dtype
  bool operator==(const WindowFilterAttributes&) const = default;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_FILTER_ATTRIBUTES_H_
