// Elements that depend on nothing but their index, in device memory.
#ifndef GPUCALL_KERNELS_CUDA_CREATION_H_
#define GPUCALL_KERNELS_CUDA_CREATION_H_

#include <cuda_runtime_api.h>

#include "kernels/creation_functions.h"

namespace gpucall::cuda {

// Many arrays are one launch; blocks are numbered through them.
struct CreationRow {
  long long first_block;
  void* out;
  long long count;  // of elements; not 0
  creation::Recipe recipe;
};
long long CreationBlockCount(const CreationRow& row);

// `rows` in device memory, in the order of their blocks, all of them `block_count`. Floats of 4 or
// 8 bytes, or integers of 1, 2, 4 or 8.
cudaError_t LaunchCreate(const CreationRow* rows, int row_count, long long block_count,
                         bool is_floating, int element_bytes, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_CREATION_H_
