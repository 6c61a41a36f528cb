// Sums and products of the elements so far, along lines in device memory.
#ifndef GPUCALL_KERNELS_CUDA_SCAN_H_
#define GPUCALL_KERNELS_CUDA_SCAN_H_

#include <cuda_runtime_api.h>

#include "kernels/numbers.h"

namespace gpucall::cuda {

enum class ScanOp : int { kSum, kProd };

// A tensor's lines of `count` elements: element e of line l is number
// (l / inner * count + e) * inner + l % inner, of x and of `out`. Lines are cut into spans, so that
// warps share the long ones; the cuts, and so the results' bits, depend on the shape alone.
struct ScanRow {
  const void* x;
  void* out;
  void* totals;                        // of ScanTotalsBytes
  long long first_warp, first_merged;  // of all rows' warps, and of those that merge totals
  long long lines, count, inner;
};
long long ScanWarps(const ScanRow& row);        // at least 1; REQUIRES: not without elements
long long ScanMergedLines(const ScanRow& row);  // its lines, where they have several spans
long long ScanTotalsBytes(const ScanRow& row);

// Integers of 1, 2, 4 or 8 bytes and bools give 8 bytes, signed or not; floats have 4 or 8.
struct ScanKind {
  ScanOp op;
  Numbers numbers;
  int bytes;
};

// Element e of each line of `out` is the sum or product of elements 0 .. e of x. Integers wrap;
// floats are accumulated in float64. `rows`: in device memory, with `warps` and `merged_lines` in
// all.
cudaError_t LaunchScan(const ScanKind& kind, const ScanRow* rows, int row_count, long long warps,
                       long long merged_lines, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_SCAN_H_
