// The bits of float16 without branches or tables, so that loops over them vectorise: what
// kernels/elementwise_types.h asks its includer for. Copies are the level's own (loops/tables.h),
// hence the anonymous namespace.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_HALF_H_
#define GPUCALL_KERNELS_CPU_LOOPS_HALF_H_

#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// The exponent and mantissa in float's places are the number times 2^-112.
inline float FloatOfHalf(unsigned short half) {
  const unsigned magnitude = half & 0x7fffu;
  const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
  const unsigned bits = __builtin_bit_cast(unsigned, scaled);
  const unsigned special = magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  return __builtin_bit_cast(float, bits | special | (half & 0x8000u) << 16);
}

inline unsigned short HalfOfFloat(float x) {
  constexpr unsigned kSmallestNormal = 0x38800000u, kPastLargest = 0x47800000u;
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  const unsigned magnitude = bits & 0x7fffffffu;
  const unsigned normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // 0.5 leaves room for multiples of 2^-24, the smallest subnormal.
  const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
  const unsigned subnormal = __builtin_bit_cast(unsigned, shifted) - 0x3f000000u;
  unsigned half = magnitude < kSmallestNormal ? subnormal : normal;
  half = magnitude >= kPastLargest ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x1ffu) : half;
  return static_cast<unsigned short>(half | (bits >> 16 & 0x8000u));
}

}  // namespace
}  // namespace gpucall::cpu::GPUCALL_LEVEL

#endif  // GPUCALL_KERNELS_CPU_LOOPS_HALF_H_
