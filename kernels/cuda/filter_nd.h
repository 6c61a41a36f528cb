// Filters over axes of arrays in device memory: the forms they are made of.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_ND_H_
#define GPUCALL_KERNELS_CUDA_FILTER_ND_H_

#include <cuda_runtime_api.h>

#include "kernels/border.h"
#include "kernels/numbers.h"

namespace gpucall::cuda {

// Of 1, 2, 4 or 8 bytes; floats of 4 or 8.
struct FilterNumbers {
  Numbers numbers;
  int bytes;
};

// Lines of `count` elements: element e of line (o, i) is number (o * count + e) * inner + i. The
// window of element e are elements e - before to e - before + size - 1 of its line.
struct LineFilter {
  const void* x;
  void* out;
  const double* weights;  // of sums: `size` of them, in device memory
  long long elements;     // of the array
  long long count, inner, size, before;
  BorderRule border;
  double cval;
  unsigned long long fill;  // of extremes: cval, as an element's bits
  double divisor;           // of sums
  int symmetry;             // of the weights: SymmetryOf in kernels/line_symmetry.h
};

// Each element of `out` is the sum of its window's elements times the weights, over the divisor, in
// double precision and in the order of cpu::LineSum, with its bits; integers are cut off towards
// zero and saturate.
cudaError_t LaunchLineSum(const LineFilter& filter, FilterNumbers from, FilterNumbers to,
                          cudaStream_t stream);
// Each element of `out` is its window's least or largest. NaN is the largest, -0 is less than 0.
cudaError_t LaunchLineExtreme(const LineFilter& filter, FilterNumbers numbers, bool largest,
                              cudaStream_t stream);

inline constexpr int kMaxFilterRank = 8;

// A dense array, and the windows of its elements: those at the element's coordinates plus each of
// the offsets. Dimensions outermost first; those that are not there have size 1.
struct WindowFilter {
  const void* x;
  void* out;
  const double* weights;  // of sums: one for each member, in device memory; backwards where `flip`
  const int* offsets;     // kMaxFilterRank of each member, one member after another
  long long members, elements;
  long long sizes[kMaxFilterRank];
  BorderRule borders[kMaxFilterRank];
  bool flip;
  double cval;
  unsigned long long fill;  // of ranks: cval, as an element's bits
  long long rank;           // from 0, below `members`
};

// Each element of `out` is the sum of its window's elements times their weights, in double
// precision and in the members' order; those under a weight of 0 take no part. Cast as of lines.
cudaError_t LaunchWindowSum(const WindowFilter& filter, FilterNumbers from, FilterNumbers to,
                            cudaStream_t stream);
// Each element of `out` is that of rank `rank` among its window's; the order is that of lines.
cudaError_t LaunchWindowRank(const WindowFilter& filter, FilterNumbers numbers,
                             cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_ND_H_
