// CUDA source for reductions, and the rows that its kernels run. Host code without CUDA: only text
// and plain data. The kernel's parameters are
//   (ReduceRow only, const ReduceRow* table, int row_count, ReducePass pass, double parameter)
// Where row_count is 1 the row is `only`, and `table` is not read. If rows have merge blocks, the
// launch to accumulate is followed by one to merge, and where the function has an element for each
// by one to apply, which has the blocks of the first.
#ifndef GPUCALL_KERNELS_CUDA_REDUCE_SOURCE_H_
#define GPUCALL_KERNELS_CUDA_REDUCE_SOURCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/cuda/elementwise_source.h"
#include "kernels/cuda/reduce_row.h"

namespace gpucall::cuda {

inline constexpr char kReduceKernelName[] = "gpucall_reduce";
inline constexpr int64_t kPartialBytes = 32;  // of an accumulator at most

struct ReduceKernel {
  std::string_view function;  // of kernels/reduce_functions.h: "Sum"
  ElementType type;
};

// Equal for kernels with equal source.
std::string ReduceSignature(const ReduceKernel& kernel);
std::string ReducePrelude();
// One kernel, extern "C" under `name`, for a source that begins with the prelude.
std::string ReduceSource(const ReduceKernel& kernel, std::string_view name);

// Sizes and strides (elements), outermost first, at most kReduceRank, as few as can be.
struct LineShape {
  std::span<const int64_t> start_sizes, start_strides;
  std::span<const int64_t> element_sizes, element_strides;
};

// A row without addresses and blocks: how its lines are read depends on their shape alone.
ReduceRow MakeReduceRow(const LineShape& lines, ElementType type);
int64_t ReduceBlockCount(const ReduceRow& row);
int64_t ReduceMergeBlockCount(const ReduceRow& row);
// Of row.partials.
int64_t ReducePartialBytes(const ReduceRow& row);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_REDUCE_SOURCE_H_
