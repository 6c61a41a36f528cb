// The table of rows that generated reduction kernels run: one for each task. Also text for NVRTC:
// no includes.
#ifndef GPUCALL_KERNELS_CUDA_REDUCE_ROW_H_
#define GPUCALL_KERNELS_CUDA_REDUCE_ROW_H_

namespace gpucall::cuda {

inline constexpr int kReduceThreads = 256;  // of a block
inline constexpr int kReduceRank = 4;       // of starts, and of elements, of lines of a dense array

// How blocks read.
enum class ReduceForm : int {
  // A team of threads takes one segment of one line: elements that lie together.
  kRuns,
  // The same, but elements are found one by one.
  kScattered,
  // A block takes a segment of lines that start side by side: a row of `across` groups of `width`
  // lines at a time.
  kRows,
};

// The launches. Partials are merged, and applied after that, only where lines have several
// segments.
enum class ReducePass : int { kAccumulate, kMerge, kApply };

// Lines in device memory, dense, aligned to 16 bytes. Lines start at the elements of start_sizes; a
// line's elements are those of element_sizes from there. Innermost first; dimensions that there are
// not have size 1.
struct ReduceRow {
  long long first_block, first_merge_block;
  const void* x;
  void* out;       // one result for each line; of functions with an element for each, as x
  void* partials;  // segment_count accumulators for each line, where that is over 1
  long long line_count, element_count;    // lines; elements of each
  long long segment_count, segment_size;  // of each line; kRuns: segments do not cross runs
  ReduceForm form;
  int team;                        // threads, a power of two: 1 to 32, or all
  int across, width;               // kRows
  int merge_team;                  // threads that merge a line's partials, as `team`
  int starts_even, elements_even;  // whether one stride leads to all
  long long start_sizes[kReduceRank], start_strides[kReduceRank];
  long long element_sizes[kReduceRank], element_strides[kReduceRank];
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_REDUCE_ROW_H_
