// Copies of elements between strided places in device memory.
#ifndef GPUCALL_KERNELS_CUDA_COPY_H_
#define GPUCALL_KERNELS_CUDA_COPY_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

namespace gpucall::cuda {

inline constexpr int kCopyRank = 16;

// Many copies are one launch; blocks are numbered through them. For all coordinates below `sizes`
// the element at out + coordinates * output_strides becomes that at x + coordinates *
// input_strides, or where x is null the first bytes of `fill`. Innermost first; neither overlaps.
struct CopyPart {
  long long first_block;
  const void* x;
  void* out;
  long long count;  // of elements
  int rank, element_bytes;
  int turned;  // a dimension with input stride 1, where reading along it is worth a turn; 0: none
  alignas(16) unsigned fill[4];
  long long sizes[kCopyRank], input_strides[kCopyRank], output_strides[kCopyRank];
};

// The copy of elements of `element_bytes` (1, 2, 4, 8 or 16), addresses of x (0: fill) and out
// aligned to them, moved in larger pieces where that is the same. Outermost first, at most
// kCopyRank of each, sizes not 0. `fill`: one element.
CopyPart MakeCopyPart(uint64_t x, uint64_t out, int element_bytes, std::span<const int64_t> sizes,
                      std::span<const int64_t> input_strides,
                      std::span<const int64_t> output_strides, const void* fill);
long long CopyBlockCount(const CopyPart& part);

// `parts` in device memory, in the order of their blocks, all of them `block_count`.
cudaError_t LaunchCopy(const CopyPart* parts, int part_count, long long block_count,
                       cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_COPY_H_
