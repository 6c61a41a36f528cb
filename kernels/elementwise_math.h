// Elementwise functions of float and double: see elementwise_functions.h, which comes before this.
#ifndef GPUCALL_KERNELS_ELEMENTWISE_MATH_H_
#define GPUCALL_KERNELS_ELEMENTWISE_MATH_H_

namespace gpucall::elementwise {

#define GPUCALL_FUNCTION_1(Function, of_float, of_double)           \
  GPUCALL_FN inline float Function(float x) { return of_float(x); } \
  GPUCALL_FN inline double Function(double x) { return of_double(x); }
#define GPUCALL_FUNCTION_2(Function, of_float, of_double)                       \
  GPUCALL_FN inline float Function(float a, float b) { return of_float(a, b); } \
  GPUCALL_FN inline double Function(double a, double b) { return of_double(a, b); }
GPUCALL_FUNCTION_1(Exp, expf, exp)
GPUCALL_FUNCTION_1(Exp2, exp2f, exp2)
GPUCALL_FUNCTION_1(Expm1, expm1f, expm1)
GPUCALL_FUNCTION_1(Log, logf, log)
GPUCALL_FUNCTION_1(Log2, log2f, log2)
GPUCALL_FUNCTION_1(Log10, log10f, log10)
GPUCALL_FUNCTION_1(Log1p, log1pf, log1p)
GPUCALL_FUNCTION_1(Sqrt, sqrtf, sqrt)
GPUCALL_FUNCTION_1(Cbrt, cbrtf, cbrt)
GPUCALL_FUNCTION_1(Sin, sinf, sin)
GPUCALL_FUNCTION_1(Cos, cosf, cos)
GPUCALL_FUNCTION_1(Tan, tanf, tan)
GPUCALL_FUNCTION_1(Asin, asinf, asin)
GPUCALL_FUNCTION_1(Acos, acosf, acos)
GPUCALL_FUNCTION_1(Atan, atanf, atan)
GPUCALL_FUNCTION_1(Sinh, sinhf, sinh)
GPUCALL_FUNCTION_1(Cosh, coshf, cosh)
GPUCALL_FUNCTION_1(Tanh, tanhf, tanh)
GPUCALL_FUNCTION_1(Asinh, asinhf, asinh)
GPUCALL_FUNCTION_1(Acosh, acoshf, acosh)
GPUCALL_FUNCTION_1(Atanh, atanhf, atanh)
GPUCALL_FUNCTION_1(Erf, erff, erf)
GPUCALL_FUNCTION_1(Erfc, erfcf, erfc)
GPUCALL_FUNCTION_1(Floor, floorf, floor)
GPUCALL_FUNCTION_1(Ceil, ceilf, ceil)
GPUCALL_FUNCTION_1(Trunc, truncf, trunc)
GPUCALL_FUNCTION_1(Round, rintf, rint)
GPUCALL_FUNCTION_2(Power, powf, pow)
GPUCALL_FUNCTION_2(Atan2, atan2f, atan2)
GPUCALL_FUNCTION_2(Hypot, hypotf, hypot)
GPUCALL_FUNCTION_2(Copysign, copysignf, copysign)
GPUCALL_FUNCTION_2(Fmod, fmodf, fmod)
#undef GPUCALL_FUNCTION_1
#undef GPUCALL_FUNCTION_2

template <class T>
inline constexpr T kInfinity = static_cast<T>(__builtin_bit_cast(double, 0x7ff0000000000000ull));

template <class T>
GPUCALL_FN bool IsNan(T x) {
  return x != x;
}
template <class T>
GPUCALL_FN bool IsInf(T x) {
  return Abs(x) == kInfinity<T>;
}
template <class T>
GPUCALL_FN bool IsFinite(T x) {
  return Abs(x) < kInfinity<T>;
}
GPUCALL_FN inline bool Signbit(float x) { return BitsOf(x) >> 31 != 0; }
GPUCALL_FN inline bool Signbit(double x) { return BitsOf(x) >> 63 != 0; }

// The step is 1 of the bits, which are in order but for the sign.
template <class T, class Bits>
GPUCALL_FN Bits NextBits(T a, T b, Bits bits_of_a, Bits bits_of_b) {
  constexpr Bits kSign = static_cast<Bits>(Bits(1) << (kBits<Bits> - 1));
  const bool away = (b > a) == (a > T(0));  // from zero
  const Bits beside = static_cast<Bits>(away ? bits_of_a + 1 : bits_of_a - 1);
  const Bits from_zero = static_cast<Bits>((bits_of_b & kSign) | 1);
  return a == T(0) ? from_zero : beside;
}
template <class T>
GPUCALL_FN T NextAfter(T a, T b) {
  const T next = OfBits(NextBits(a, b, BitsOf(a), BitsOf(b)));
  return Either(a != a, b != b) ? a + b : a == b ? b : next;
}
// Of float16 and bfloat16, whose neighbours are further apart than float's.
template <class Half>
GPUCALL_FN Half NextHalf(Half a, Half b) {
  const float x = Widened(a), y = Widened(b);
  const Half next = {NextBits(x, y, a.bits, b.bits)};
  return Either(x != x, y != y) ? Narrowed<Half>(x + y) : x == y ? b : next;
}
GPUCALL_FN inline Float16 NextAfter(Float16 a, Float16 b) { return NextHalf(a, b); }
GPUCALL_FN inline Bfloat16 NextAfter(Bfloat16 a, Bfloat16 b) { return NextHalf(a, b); }

// NumPy's: the quotient of what the remainder leaves is near an integer, and becomes it.
template <class T>
GPUCALL_FN T FloorDivideOfReals(T a, T b) {
  const T rest = Fmod(a, b);
  T quotient = (a - rest) / b;
  if ((rest != T(0)) & ((b < T(0)) != (rest < T(0)))) quotient -= T(1);
  const T down = Floor(quotient);
  const T nearest = quotient - down > T(0.5) ? down + T(1) : down;
  const T rounded = quotient == T(0) ? Copysign(T(0), a / b) : nearest;
  return b == T(0) ? a / b : rounded;
}
template <class T>
GPUCALL_FN T RemainderOfReals(T a, T b) {
  const T rest = Fmod(a, b);
  const T shifted = (b < T(0)) != (rest < T(0)) ? rest + b : rest;
  return b == T(0) ? rest : rest == T(0) ? Copysign(T(0), b) : shifted;
}
GPUCALL_FN inline float FloorDivide(float a, float b) { return FloorDivideOfReals(a, b); }
GPUCALL_FN inline double FloorDivide(double a, double b) { return FloorDivideOfReals(a, b); }
GPUCALL_FN inline float Remainder(float a, float b) { return RemainderOfReals(a, b); }
GPUCALL_FN inline double Remainder(double a, double b) { return RemainderOfReals(a, b); }

template <class T>
GPUCALL_FN T LogAddExp(T a, T b) {
  const T larger = Maximum(a, b), difference = -Abs(a - b);
  const T same = a + T(0.693147180559945309417232121458);  // infinities, too
  return a == b ? same : larger + Log1p(Exp(difference));
}

// Never overflows: the exponent is never positive.
template <class T>
GPUCALL_FN T Sigmoid(T x) {
  const T e = Exp(-Abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
// -0 of -infinity, as of other numbers far below zero.
template <class T>
GPUCALL_FN T Silu(T x) {
  const T gate = Sigmoid(x);
  return gate == T(0) ? -gate : x * gate;
}
template <class T>
GPUCALL_FN T Gelu(T x) {
  const T gate = T(0.5) * Erfc(x * T(-0.707106781186547524400844362105));
  return gate == T(0) ? -gate : x * gate;
}
// The sigmoid is (1 + tanh(u)) / 2 of 2 u.
template <class T>
GPUCALL_FN T GeluTanh(T x) {
  const T u = T(0.797884560802865355879892119869) * (x + T(0.044715) * x * x * x);
  const T gate = Sigmoid(u + u);
  return gate == T(0) ? -gate : x * gate;
}
template <class T>
GPUCALL_FN T Softplus(T x) {
  return Maximum(x, T(0)) + Log1p(Exp(-Abs(x)));
}

}  // namespace gpucall::elementwise

#endif  // GPUCALL_KERNELS_ELEMENTWISE_MATH_H_
