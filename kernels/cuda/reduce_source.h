// CUDA source for reductions: a kernel runs rows (reduce_cut.h) of one form and width. Host code
// without CUDA: only text. The kernel's parameters are
//   (ReduceRow only, const ReduceRow* table, int row_count, ReducePass pass, double parameter)
// Where row_count is 1 the row is `only`, and `table` is not read. If rows have merge blocks, the
// launch to accumulate is followed by one to merge, and where the function has an element for each
// by one to apply, which has the blocks of the first.
#ifndef GPUCALL_KERNELS_CUDA_REDUCE_SOURCE_H_
#define GPUCALL_KERNELS_CUDA_REDUCE_SOURCE_H_

#include <string>
#include <string_view>

#include "kernels/cuda/elementwise_source.h"
#include "kernels/cuda/reduce_row.h"

namespace gpucall::cuda {

inline constexpr char kReduceKernelName[] = "gpucall_reduce";

struct ReduceKernel {
  std::string_view function;  // of kernels/reduce_functions.h: "Sum"
  ElementType type;
  ReduceForm form;
  int width;  // of the form
};

// Equal for kernels with equal source.
std::string ReduceSignature(const ReduceKernel& kernel);
// What kernels of `form` need.
std::string ReducePrelude(ReduceForm form);
// One kernel, extern "C" under `name`, for a source that begins with its form's prelude.
std::string ReduceSource(const ReduceKernel& kernel, std::string_view name);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_REDUCE_SOURCE_H_
