// Sorts of lines in device memory.
#ifndef GPUCALL_KERNELS_CUDA_SORT_H_
#define GPUCALL_KERNELS_CUDA_SORT_H_

#include <cuda_runtime_api.h>

#include "kernels/sort_keys.h"

namespace gpucall::cuda {

// A tensor's lines of `count` elements: element e of line l is number
// (l / inner * count + e) * inner + l % inner. The elements of all rows are numbered through, line
// by line.
struct SortRow {
  const void* x;
  void* out;
  long long first, first_line;  // number of its first element and of its first line
  long long lines, count, inner;
  long long kept;  // of each line's order the first so many go out: result r of line l is number
                   // (l / inner * kept + r) * inner + l % inner
};

// Elements of `bytes` (1, 2, 4 or 8); results are they, or their int64 indices in the line.
struct SortKind {
  sort::KeyRule rule;
  int bytes;
  bool gives_indices;
};

// Whole lines, one after another, maybe of several rows; their elements are sorted together.
struct SortChunk {
  long long first, first_line;
  long long elements, lines;  // elements: at most kMaxSortElements
};
inline constexpr long long kMaxSortElements = 0x7fffffff;

// What a chunk needs to work in, aligned to 256. Fails where there is no device.
cudaError_t SortScratchBytes(const SortKind& kind, const SortChunk& chunk, long long* size_bytes);

// Orders the chunk's lines by their elements' keys, equal ones as they were. `rows`: all of them,
// in device memory; none is without elements. `scratch`: of `scratch_bytes`, as SortScratchBytes
// says or more.
cudaError_t LaunchSort(const SortKind& kind, const SortRow* rows, int row_count,
                       const SortChunk& chunk, void* scratch, long long scratch_bytes,
                       cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_SORT_H_
