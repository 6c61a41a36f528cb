// The table of rows that generated elementwise kernels run: one row for each task, each a struct of
// 8-byte words in device memory. The kernel's parameters are
//   (Row only, const Row* table, int row_count)
// Where row_count is 1 the row is `only`, and `table` is not read.
#ifndef GPUCALL_KERNELS_CUDA_ELEMENTWISE_ROW_H_
#define GPUCALL_KERNELS_CUDA_ELEMENTWISE_ROW_H_

#include <cstdint>
#include <span>

#include "kernels/cuda/elementwise_source.h"

namespace gpucall::cuda {

// Addresses are of device memory, aligned for their types.
struct ElementwiseArguments {
  int64_t count = 0;
  std::span<const uint64_t> inputs = {};
  std::span<const uint64_t> outputs = {};
  uint64_t fault = 0;  // an int32_t set to an exponent that faults; 0 if none can
  // Where the kernel has strided inputs: at most kernel.rank sizes, outermost first, whose product
  // is `count`; and for each strided input in order as many strides, in elements.
  std::span<const int64_t> sizes = {};
  std::span<const int64_t> strides = {};
};

// As a parameter, rows must stay below 4 KiB: so does every kernel of at most 16 inputs and 64
// outputs.
int64_t ElementwiseRowWords(const ElementwiseKernel& kernel);

// Writes the row whose blocks start at `first_block`, and returns the first block after it. A row
// of no elements has no blocks. REQUIRES: ElementwiseRowWords of `words`.
int64_t WriteElementwiseRow(const ElementwiseKernel& kernel, const ElementwiseArguments& arguments,
                            int64_t first_block, std::span<uint64_t> words);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_ELEMENTWISE_ROW_H_
