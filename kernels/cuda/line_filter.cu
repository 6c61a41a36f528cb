#include <cuda_runtime.h>

#include "kernels/cuda/filter_nd.cuh"
#include "kernels/rank_keys.h"

namespace gpucall::cuda {
namespace {

// Where an element of the array stands in its line.
struct Place {
  long long element;  // of the line
  long long start;    // number of the line's first element
};

__device__ Place PlaceOf(const LineFilter& filter, long long number) {
  const long long element = number / filter.inner % filter.count;
  return {element, number - element * filter.inner};
}

// The number of the array's element that is number `k` of the window; -1: the constant.
__device__ long long WindowAt(const LineFilter& filter, const Place& place, long long k) {
  const long long index =
      InsideIndex(place.element + k - filter.before, filter.count, filter.border);
  return index < 0 ? -1 : place.start + index * filter.inner;
}

// Rounded after each product and sum, never contracted, so that bits are the CPU's.
template <class T>
__device__ double SumOf(const LineFilter& filter, const Place& place) {
  const auto* const x = static_cast<const T*>(filter.x);
  const auto at = [&](long long k) {
    const long long number = WindowAt(filter, place, k);
    return number < 0 ? filter.cval : static_cast<double>(x[number]);
  };
  const long long last = filter.size - 1;
  const long long middle = filter.symmetry != 0 ? filter.size / 2 : last;
  double sum = __dmul_rn(at(middle), filter.weights[middle]);
  for (long long k = 0; k < middle; ++k) {
    double element = at(k);
    if (filter.symmetry > 0) element = __dadd_rn(element, at(last - k));
    if (filter.symmetry < 0) element = __dsub_rn(element, at(last - k));
    sum = __dadd_rn(sum, __dmul_rn(element, filter.weights[k]));
  }
  return filter.divisor == 1 ? sum : __ddiv_rn(sum, filter.divisor);
}

template <class T>
__global__ void __launch_bounds__(kFilterThreads) LineSum(LineFilter filter, FilterNumbers to) {
  const long long step = static_cast<long long>(gridDim.x) * kFilterThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kFilterThreads + threadIdx.x;
       i < filter.elements; i += step) {
    StoreSum(filter.out, i, SumOf<T>(filter, PlaceOf(filter, i)), to);
  }
}

template <class Bits>
__global__ void __launch_bounds__(kFilterThreads)
    LineExtreme(LineFilter filter, Numbers numbers, bool largest) {
  const auto* const x = static_cast<const Bits*>(filter.x);
  const Bits fill = RankKey(static_cast<Bits>(filter.fill), numbers);
  const long long step = static_cast<long long>(gridDim.x) * kFilterThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kFilterThreads + threadIdx.x;
       i < filter.elements; i += step) {
    const Place place = PlaceOf(filter, i);
    Bits chosen = 0;
    for (long long k = 0; k < filter.size; ++k) {
      const long long number = WindowAt(filter, place, k);
      const Bits key = number < 0 ? fill : RankKey(x[number], numbers);
      if (k == 0 || (largest ? key > chosen : key < chosen)) chosen = key;
    }
    static_cast<Bits*>(filter.out)[i] = BitsOfRankKey(chosen, numbers);
  }
}

}  // namespace

cudaError_t LaunchLineSum(const LineFilter& filter, FilterNumbers from, FilterNumbers to,
                          cudaStream_t stream) {
  if (filter.elements == 0) return cudaSuccess;
  WithElementType(from, [&]<class T>(T) {
    LineSum<T><<<FilterBlocks(filter.elements), kFilterThreads, 0, stream>>>(filter, to);
  });
  return cudaGetLastError();
}

cudaError_t LaunchLineExtreme(const LineFilter& filter, FilterNumbers numbers, bool largest,
                              cudaStream_t stream) {
  if (filter.elements == 0) return cudaSuccess;
  WithBits(numbers.bytes, [&]<class Bits>(Bits) {
    LineExtreme<Bits><<<FilterBlocks(filter.elements), kFilterThreads, 0, stream>>>(
        filter, numbers.numbers, largest);
  });
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
