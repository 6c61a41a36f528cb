// What the kernels of filters over axes share.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_ND_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_ND_CUH_

#include <cstdint>

#include "kernels/cuda/filter_nd.h"

namespace gpucall::cuda {

inline constexpr int kFilterThreads = 256;

// One thread for each element, as far as the grid reaches.
inline unsigned FilterBlocks(long long elements) {
  constexpr long long kMostBlocks = 1 << 20;
  const long long blocks = (elements + kFilterThreads - 1) / kFilterThreads;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

// `value` cut off towards zero, the nearest that T holds, 0 of NaN. `end`: a power of two, the
// first past the largest.
template <class T>
__device__ T SaturatedTo(double value, double low, double end, T least, T largest) {
  if (value >= end) return largest;
  if (value <= low) return least;
  return value == value ? static_cast<T>(value) : T{0};
}

__device__ inline void StoreSum(void* out, long long i, double value, FilterNumbers to) {
  if (to.numbers == Numbers::kFloat) {
    if (to.bytes == 4) {
      static_cast<float*>(out)[i] = __double2float_rn(value);
    } else {
      static_cast<double*>(out)[i] = value;
    }
    return;
  }
  const bool is_signed = to.numbers == Numbers::kSigned;
  const double end = ldexp(1.0, 8 * to.bytes - (is_signed ? 1 : 0));
  unsigned long long bits = 0;
  if (is_signed) {
    const auto largest = static_cast<long long>(~0ull >> (65 - 8 * to.bytes));
    bits = static_cast<unsigned long long>(
        SaturatedTo<long long>(value, -end, end, -largest - 1, largest));
  } else {
    bits = SaturatedTo<unsigned long long>(value, 0.0, end, 0ull, ~0ull >> (64 - 8 * to.bytes));
  }
  if (to.bytes == 1) static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(bits);
  if (to.bytes == 2) static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(bits);
  if (to.bytes == 4) static_cast<uint32_t*>(out)[i] = static_cast<uint32_t>(bits);
  if (to.bytes == 8) static_cast<uint64_t*>(out)[i] = bits;
}

// Calls launch(Bits()) with the unsigned type of so many bytes.
template <class Launch>
void WithBits(int bytes, Launch launch) {
  if (bytes == 1) return launch(uint8_t());
  if (bytes == 2) return launch(uint16_t());
  return bytes == 4 ? launch(uint32_t()) : launch(uint64_t());
}

// Calls launch(T()) with the type of the elements.
template <class Launch>
void WithElementType(FilterNumbers of, Launch launch) {
  if (of.numbers == Numbers::kFloat) return of.bytes == 4 ? launch(float()) : launch(double());
  if (of.numbers == Numbers::kSigned) {
    if (of.bytes == 1) return launch(int8_t());
    if (of.bytes == 2) return launch(int16_t());
    return of.bytes == 4 ? launch(int32_t()) : launch(int64_t());
  }
  WithBits(of.bytes, launch);
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_ND_CUH_
