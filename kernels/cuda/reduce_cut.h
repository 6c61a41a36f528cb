// How lines are shared out among blocks: the rows that reduction kernels run. Host code without
// CUDA.
#ifndef GPUCALL_KERNELS_CUDA_REDUCE_CUT_H_
#define GPUCALL_KERNELS_CUDA_REDUCE_CUT_H_

#include <cstdint>
#include <span>

#include "kernels/cuda/elementwise_source.h"
#include "kernels/cuda/reduce_row.h"

namespace gpucall::cuda {

inline constexpr int64_t kPartialBytes = 32;  // of an accumulator at most

// Sizes and strides (elements), outermost first, at most kReduceRank, as few as can be.
struct LineShape {
  std::span<const int64_t> start_sizes, start_strides;
  std::span<const int64_t> element_sizes, element_strides;
};

// Whether a function gives a result for each line, or for each element.
enum class ReduceResults { kOfLines, kOfElements };

// A row without addresses and blocks: how its lines are read depends on their shape alone.
ReduceRow MakeReduceRow(const LineShape& lines, ElementType type, ReduceResults results);
int64_t ReduceBlockCount(const ReduceRow& row);
int64_t ReduceMergeBlockCount(const ReduceRow& row);
// Of row.partials.
int64_t ReducePartialBytes(const ReduceRow& row);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_REDUCE_CUT_H_
