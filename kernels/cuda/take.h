// Elements by their indices, in device memory.
#ifndef GPUCALL_KERNELS_CUDA_TAKE_H_
#define GPUCALL_KERNELS_CUDA_TAKE_H_

#include <cuda_runtime_api.h>

namespace gpucall::cuda {

inline constexpr int kTakeRank = 8;

// Why a take failed, of those of one task; zeros: none did.
struct IndexFault {
  unsigned long long step;  // its number, from 1
  long long index;
};

// Many takes are one launch; blocks are numbered through them. For all coordinates below `sizes`
// the next element of `out` becomes that of `x` at coordinates * x_strides + i * stride, where i is
// that of `indices` at coordinates * index_strides; of a negative one, i + size. An index that is
// not one of `size` places is put into `fault`, where that has none yet, and gives no element.
// Innermost first; strides in elements.
struct TakeRow {
  long long first_block;
  const void* x;
  const void* indices;
  void* out;
  IndexFault* fault;
  long long count;         // of results; not 0
  long long size, stride;  // of the axis
  int rank;                // at least 1
  long long sizes[kTakeRank], x_strides[kTakeRank], index_strides[kTakeRank];
};
long long TakeBlockCount(const TakeRow& row);

// `rows` in device memory, in the order of their blocks, all of them `block_count`. Elements of
// `element_bytes` (1, 2, 4, 8 or 16) and indices of `index_bytes` (4 or 8), aligned to them.
// `step`: what faults say.
cudaError_t LaunchTake(const TakeRow* rows, int row_count, long long block_count, int element_bytes,
                       int index_bytes, unsigned long long step, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_TAKE_H_
