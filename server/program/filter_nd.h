// Filters over any axes of an array, with scipy.ndimage's results: checked, and as the operations
// that they are made of.
#ifndef GPUCALL_SERVER_PROGRAM_FILTER_ND_H_
#define GPUCALL_SERVER_PROGRAM_FILTER_ND_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/program.h"

namespace gpucall {

inline constexpr int64_t kMaxIterations = 100;  // of binary filters

// A filter whose attributes are checked. Lists have a value for each of `axes`, those that the kind
// uses.
struct NdFilter {
  FilterKind kind;
  Shape axes;  // dimensions, in the order they are filtered in
  PerAxis<BorderMode> modes;
  double cval;
  PerAxis<std::vector<double>> weights;  // of separable filters, as they are correlated
  PerAxis<double> sigma;
  double truncate;
  Shape size;
  Shape before;           // window elements before the output's own
  Shape before_mirrored;  // the same of the mirrored window
  std::string footprint;  // row-major over `size`; empty: all elements
  int64_t rank;           // of the element that a rank filter gives
  size_t axis;            // of derivatives: index in `axes`
  int64_t iterations;
  DType image, output;
};

// The filter as one over axes, where `image` and what it asks for need that: all but filters of
// uint8 and float32 images to uint8 and float32.
std::optional<NdFilterAttributes> AsNdFilter(const Operation& operation, DType image);

// `kernel`: of correlate and convolve, else null. INVALID_ARGUMENT, UNIMPLEMENTED (dtype not
// offered), both naming the argument, the value and what is allowed.
absl::StatusOr<NdFilter> CheckNdFilter(const NdFilterAttributes& attributes,
                                       const TensorType& image, const TensorType* kernel);

// The operations that together are the filter: line and window filters, casts and elementwise ones.
// `inputs` are the filter's; the first operation makes value number `next`, each one more, and the
// last makes the result.
std::vector<Operation> ExpandNdFilter(const NdFilter& filter, absl::Span<const uint32_t> inputs,
                                      DType kernel, uint32_t next);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_FILTER_ND_H_
