#include <cuda_runtime.h>

#include "kernels/cuda/filter_nd.cuh"
#include "kernels/rank_keys.h"

namespace gpucall::cuda {
namespace {

struct Coordinates {
  long long of[kMaxFilterRank];
};

__device__ Coordinates CoordinatesOf(const WindowFilter& filter, long long number) {
  Coordinates at;
#pragma unroll
  for (int d = kMaxFilterRank - 1; d >= 0; --d) {
    at.of[d] = number % filter.sizes[d];
    number /= filter.sizes[d];
  }
  return at;
}

// The number of the array's element that is the window's member; -1: the constant.
__device__ long long WindowAt(const WindowFilter& filter, const Coordinates& at, long long member) {
  const int* const offsets = filter.offsets + member * kMaxFilterRank;
  long long number = 0;
#pragma unroll
  for (int d = 0; d < kMaxFilterRank; ++d) {
    const long long index = InsideIndex(at.of[d] + offsets[d], filter.sizes[d], filter.borders[d]);
    if (index < 0) return -1;
    number = number * filter.sizes[d] + index;
  }
  return number;
}

// Rounded after each product and sum, never contracted, so that bits are the CPU's.
template <class T>
__device__ double SumOf(const WindowFilter& filter, const Coordinates& at) {
  const auto* const x = static_cast<const T*>(filter.x);
  double sum = 0;
  for (long long m = 0; m < filter.members; ++m) {
    const double weight = filter.weights[filter.flip ? filter.members - 1 - m : m];
    if (weight == 0) continue;
    const long long number = WindowAt(filter, at, m);
    const double element = number < 0 ? filter.cval : static_cast<double>(x[number]);
    sum = __dadd_rn(sum, __dmul_rn(weight, element));
  }
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kFilterThreads) WindowSum(WindowFilter filter, FilterNumbers to) {
  const long long step = static_cast<long long>(gridDim.x) * kFilterThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kFilterThreads + threadIdx.x;
       i < filter.elements; i += step) {
    StoreSum(filter.out, i, SumOf<T>(filter, CoordinatesOf(filter, i)), to);
  }
}

template <class Bits>
__global__ void __launch_bounds__(kFilterThreads) WindowRank(WindowFilter filter, Numbers numbers) {
  const auto* const x = static_cast<const Bits*>(filter.x);
  const Bits fill = RankKey(static_cast<Bits>(filter.fill), numbers);
  const long long step = static_cast<long long>(gridDim.x) * kFilterThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kFilterThreads + threadIdx.x;
       i < filter.elements; i += step) {
    const Coordinates at = CoordinatesOf(filter, i);
    // The largest key that at most `rank` of the window's are less than: one pass for each bit.
    Bits chosen = 0;
    for (int bit = 8 * static_cast<int>(sizeof(Bits)) - 1; bit >= 0; --bit) {
      const auto candidate = static_cast<Bits>(chosen | static_cast<Bits>(Bits{1} << bit));
      long long less = 0;
      for (long long m = 0; m < filter.members && less <= filter.rank; ++m) {
        const long long number = WindowAt(filter, at, m);
        const Bits key = number < 0 ? fill : RankKey(x[number], numbers);
        less += key < candidate ? 1 : 0;
      }
      if (less <= filter.rank) chosen = candidate;
    }
    static_cast<Bits*>(filter.out)[i] = BitsOfRankKey(chosen, numbers);
  }
}

}  // namespace

cudaError_t LaunchWindowSum(const WindowFilter& filter, FilterNumbers from, FilterNumbers to,
                            cudaStream_t stream) {
  if (filter.elements == 0) return cudaSuccess;
  WithElementType(from, [&]<class T>(T) {
    WindowSum<T><<<FilterBlocks(filter.elements), kFilterThreads, 0, stream>>>(filter, to);
  });
  return cudaGetLastError();
}

cudaError_t LaunchWindowRank(const WindowFilter& filter, FilterNumbers numbers,
                             cudaStream_t stream) {
  if (filter.elements == 0) return cudaSuccess;
  WithBits(numbers.bytes, [&]<class Bits>(Bits) {
    WindowRank<Bits>
        <<<FilterBlocks(filter.elements), kFilterThreads, 0, stream>>>(filter, numbers.numbers);
  });
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
