// The table of rows that generated reduction kernels run: one for each task. Also text for NVRTC:
// no includes.
#ifndef GPUCALL_KERNELS_CUDA_REDUCE_ROW_H_
#define GPUCALL_KERNELS_CUDA_REDUCE_ROW_H_

namespace gpucall::cuda {

inline constexpr int kReduceThreads = 256;  // of a block
inline constexpr int kFewGroups = 4;        // teams whose threads take more are 32 threads
inline constexpr int kReduceRank = 4;       // of starts, and of elements, of lines of a dense array

// How blocks read; each is a kernel of its own, for each `width`. A group is the elements of 16
// bytes.
enum class ReduceForm : int {
  // A team of threads takes one segment of one line, in runs of elements that lie together; a
  // thread has `width` groups in flight. kHeld: lines of one run and segment, of which no thread
  // has
  // more groups than that.
  kTeams,
  kHeldTeams,
  // The same, and the team is a block.
  kBlocks,
  kHeldBlocks,
  // A team takes one segment of one line, whose elements are found one by one.
  kScattered,
  // A block takes a segment of lines that start side by side: a row of `across` times `width`
  // lines at a time. kHeldRows: of functions with an element for each, short lines that the block's
  // registers hold; `width` is 16 times that, plus the elements of a line that a thread holds.
  kRows,
  kHeldRows,
  // Lines of `width` elements, one behind the other: a thread takes as many as a group has
  // elements.
  kPackedLines,
  // The elements of `width` lines take turns: a block takes a segment of all of them.
  kPackedRows,
};

// The launches. Partials are merged, and applied after that, only where lines have several
// segments.
enum class ReducePass : int { kAccumulate, kMerge, kApply };

// Lines in device memory, dense, aligned to 16 bytes. Lines start at the elements of start_sizes; a
// line's elements are those of element_sizes from there. Innermost first; dimensions that there are
// not have size 1. Numbers of threads are powers of two, given by their logarithms.
struct ReduceRow {
  long long first_block, first_merge_block;
  const void* x;
  void* out;       // one result for each line; of functions with an element for each, as x
  void* partials;  // line_count accumulators for each segment, where there are over 1
  long long line_count, element_count;    // lines; elements of each
  long long segment_count, segment_size;  // of each line; elements at most
  // kTeams, kBlocks: a segment is runs_a_segment runs, or one of `parts` of a run, which take
  // turns.
  long long run_count, runs_a_segment, parts;
  ReduceForm form;
  int width;
  int lines_a_thread;              // kPackedLines
  int team_bits;                   // kTeams, kScattered: threads that take a segment
  int across_bits;                 // kRows
  int merge_bits;                  // lines whose partials a block merges
  int starts_even, elements_even;  // whether one stride leads to all
  long long start_sizes[kReduceRank], start_strides[kReduceRank];
  long long element_sizes[kReduceRank], element_strides[kReduceRank];
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_REDUCE_ROW_H_
