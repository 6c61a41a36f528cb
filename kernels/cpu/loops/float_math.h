// expf, logf and tanhf without branches or tables, so that loops over them vectorise; found before
// <math.h>'s by code in the level's anonymous namespace. Within 2 ULP, special values as in C.
// Polynomials: least squares on Chebyshev nodes of the ranges named. Copies are the level's own
// (loops/tables.h), hence the anonymous namespace.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_FLOAT_MATH_H_
#define GPUCALL_KERNELS_CPU_LOOPS_FLOAT_MATH_H_

#include <math.h>

#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// ln 2 in two parts; a small integer times the first is exact.
constexpr float kLn2High = 0.693359375f;
constexpr float kLn2Low = -2.12194440e-4f;

inline unsigned BitsOf(float x) { return __builtin_bit_cast(unsigned, x); }
inline float FromBits(unsigned bits) { return __builtin_bit_cast(float, bits); }
// 2^n for -126 <= n <= 127.
inline float PowerOfTwo(int n) { return FromBits(static_cast<unsigned>(n + 127) << 23); }

// e^x = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2.
inline float expf(float x) {
  constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded
  // Past these the result is 0 or infinite; NaN passes both.
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const float shifted = x * 1.44269504f + kNoFraction;
  const int n = static_cast<int>(BitsOf(shifted) - BitsOf(kNoFraction));
  const float rounded = shifted - kNoFraction;
  const float r = (x - rounded * kLn2High) - rounded * kLn2Low;
  float p = 0.000198992851f;
  p = p * r + 0.00139336504f;
  p = p * r + 0.00833329847f;
  p = p * r + 0.0416664649f;
  p = p * r + 0.166666667f;
  p = p * r + 0.5f;
  // In two steps, as 2^n alone may be out of range. NaN's n is meaningless: kept in range.
  const int half = (n < -150 ? -150 : n > 128 ? 128 : n) >> 1;
  return ((p * r * r + r + 1.0f) * PowerOfTwo(half)) * PowerOfTwo(n - half);
}

// ln(2^e m) = e ln 2 + ln m, sqrt(1/2) <= m < sqrt(2).
inline float logf(float x) {
  constexpr float kSmallestNormal = 1.17549435e-38f;
  const bool subnormal = x < kSmallestNormal;
  const unsigned bits = BitsOf(subnormal ? x * 8388608.0f : x);
  float m = FromBits((bits & 0x7fffffu) | 0x3f000000u);  // in [1/2, 1)
  float e = static_cast<float>(static_cast<int>(bits >> 23) - (subnormal ? 149 : 126));
  const bool low = m < 0.707106781f;
  e = low ? e - 1.0f : e;
  m = low ? m + m - 1.0f : m - 1.0f;
  const float z = m * m;
  float p = 0.0714975389f;
  p = p * m - 0.115712007f;
  p = p * m + 0.116615111f;
  p = p * m - 0.124110507f;
  p = p * m + 0.142499365f;
  p = p * m - 0.166684802f;
  p = p * m + 0.200007075f;
  p = p * m - 0.24999989f;
  p = p * m + 0.333333312f;
  float result = p * m * z + e * kLn2Low - 0.5f * z;
  result = (m + result) + e * kLn2High;
  result = x < INFINITY ? result : x;  // infinity, NaN
  result = x == 0.0f ? -INFINITY : result;
  return x < 0.0f ? NAN : result;
}

// x + x^3 p(x^2) where |x| < 5/8, else 1 - 2 / (e^2|x| + 1) with x's sign.
inline float tanhf(float x) {
  const float magnitude = fabsf(x);
  const float z = x * x;
  float p = 0.002295655f;
  p = p * z - 0.00834681677f;
  p = p * z + 0.0217699112f;
  p = p * z - 0.0539593998f;
  p = p * z + 0.133333043f;
  p = p * z - 0.333333332f;
  const float large = 1.0f - 2.0f / (expf(magnitude + magnitude) + 1.0f);
  return copysignf(magnitude < 0.625f ? x + x * (z * p) : large, x);  // of -0, too
}

}  // namespace
}  // namespace gpucall::cpu::GPUCALL_LEVEL

#endif  // GPUCALL_KERNELS_CPU_LOOPS_FLOAT_MATH_H_
