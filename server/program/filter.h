// From a filter's attributes to what kernels do: windows and weights.
#ifndef GPUCALL_SERVER_PROGRAM_FILTER_H_
#define GPUCALL_SERVER_PROGRAM_FILTER_H_

#include "absl/status/statusor.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

inline constexpr int64_t kMaxWindowSide = 4095;      // separable and dense windows
inline constexpr int64_t kMaxRankSide = 255;         // rank windows
inline constexpr int64_t kMaxDenseWindow = 1 << 16;  // elements of a dense kernel

inline constexpr int64_t kMaxFilterImages = 1 << 20;

// Where a filter works without axes: H x W, H x W x C, or several ... x H x W x C, so many at most.
// INVALID_ARGUMENT naming the filter.
absl::Status CheckImageShape(absl::string_view name, const Shape& shape);
// That of the rows. REQUIRES: CheckImageShape.
size_t FirstImageAxis(const Shape& shape);
// INVALID_ARGUMENT naming the filter.
absl::Status CheckTruncate(absl::string_view name, double truncate);
// The rank, from 0, of the element that median, rank_filter or percentile_filter gives of a window
// of `count` elements. INVALID_ARGUMENT naming the filter, the value and what is allowed.
absl::StatusOr<int64_t> RankOf(FilterKind kind, int64_t rank, double percentile, int64_t count);

struct FilterLowering {
  FilterStep step;  // value numbers not set; of a composite filter its first step
  DType output_dtype;
};

// Checks attributes against images, see CheckImageShape, and, for correlate and convolve, a kernel
// rows x columns (else null). INVALID_ARGUMENT, UNIMPLEMENTED (dtype not offered), both naming the
// argument, the value and what is allowed.
absl::StatusOr<FilterLowering> LowerFilter(const FilterAttributes& attributes,
                                           const TensorType& image, const TensorType* kernel);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_FILTER_H_
