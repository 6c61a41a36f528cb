// What the elementwise operations compute for one element, in every dtype: the one definition,
// compiled into the CPU kernels and given as text to NVRTC for the CUDA kernels. So no includes and
// no std:: here; the includer declares the mathematical functions (<math.h>; built in for NVRTC)
// and includes kernels/elementwise_types.h before this. Here is what needs no mathematics;
// elementwise_math.h and elementwise_complex.h have the rest, and overloads.
//
// T is the dtype computed in. Integers wrap. Nothing here contracts a*b+c (both compilers are told
// not to), so a fused chain gives the bits of its operations one by one. With & and | for && and
// ||, loops vectorise.
#ifndef GPUCALL_KERNELS_ELEMENTWISE_FUNCTIONS_H_
#define GPUCALL_KERNELS_ELEMENTWISE_FUNCTIONS_H_

namespace gpucall::elementwise {

template <class T>
GPUCALL_FN T Add(T a, T b) {
  if constexpr (kIsBool<T>)
    return a | b;
  else
    return static_cast<T>(WrappingT<T>(a) + WrappingT<T>(b));
}
template <class T>
GPUCALL_FN T Subtract(T a, T b) {
  return static_cast<T>(WrappingT<T>(a) - WrappingT<T>(b));
}
template <class T>
GPUCALL_FN T Multiply(T a, T b) {
  if constexpr (kIsBool<T>)
    return a & b;
  else
    return static_cast<T>(WrappingT<T>(a) * WrappingT<T>(b));
}
template <class T>
GPUCALL_FN T Divide(T a, T b) {
  return a / b;
}
template <class T>
GPUCALL_FN T MultiplyAdd(T a, T b, T c) {
  return Add(Multiply(a, b), c);
}
template <class T>
GPUCALL_FN T Square(T x) {
  return Multiply(x, x);
}
template <class T>
GPUCALL_FN T Positive(T x) {
  return x;
}
template <class T>
GPUCALL_FN T Negative(T x) {
  if constexpr (kIsReal<T>)
    return -x;
  else
    return Subtract(T(0), x);
}
// The smallest integer stays as it is.
template <class T>
GPUCALL_FN T Abs(T x) {
  if constexpr (kIsBool<T>)
    return x;
  else
    return x < T(0) ? Negative(x) : x;
}
GPUCALL_FN inline float Abs(float x) { return fabsf(x); }
GPUCALL_FN inline double Abs(double x) { return fabs(x); }

// NaN stays.
template <class T>
GPUCALL_FN T Sign(T x) {
  const T of_numbers = x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0);
  return x == x ? of_numbers : x;
}
template <class T>
GPUCALL_FN T Conj(T x) {
  return x;
}
template <class T>
GPUCALL_FN T Real(T x) {
  return x;
}
template <class T>
GPUCALL_FN T Imag(T) {
  return T(0);
}

// NaN wins; of zeros with unlike signs the first is given.
template <class T>
GPUCALL_FN T Minimum(T a, T b) {
  return ((a <= b) | (a != a)) ? a : b;
}
template <class T>
GPUCALL_FN T Maximum(T a, T b) {
  return ((a >= b) | (a != a)) ? a : b;
}
// NaN loses.
template <class T>
GPUCALL_FN T Fmin(T a, T b) {
  return ((a <= b) | (b != b)) ? a : b;
}
template <class T>
GPUCALL_FN T Fmax(T a, T b) {
  return ((a >= b) | (b != b)) ? a : b;
}
template <class T>
GPUCALL_FN T Clip(T x, T low, T high) {
  return Minimum(Maximum(x, low), high);
}
template <class T>
GPUCALL_FN T Relu(T x) {
  return Maximum(x, T(0));
}
template <class T>
GPUCALL_FN T LeakyRelu(T x, T slope) {
  return x > T(0) ? x : slope * x;
}
template <class T>
GPUCALL_FN T Where(bool condition, T x, T y) {
  return condition ? x : y;
}

template <class T>
GPUCALL_FN bool Equal(T a, T b) {
  return a == b;
}
template <class T>
GPUCALL_FN bool NotEqual(T a, T b) {
  return a != b;
}
template <class T>
GPUCALL_FN bool Less(T a, T b) {
  return a < b;
}
template <class T>
GPUCALL_FN bool LessEqual(T a, T b) {
  return a <= b;
}
template <class T>
GPUCALL_FN bool Greater(T a, T b) {
  return a > b;
}
template <class T>
GPUCALL_FN bool GreaterEqual(T a, T b) {
  return a >= b;
}

GPUCALL_FN inline bool LogicalNot(bool x) { return !x; }
GPUCALL_FN inline bool LogicalAnd(bool a, bool b) { return a & b; }
GPUCALL_FN inline bool LogicalOr(bool a, bool b) { return a | b; }
GPUCALL_FN inline bool LogicalXor(bool a, bool b) { return a != b; }

template <class T>
GPUCALL_FN T BitwiseInvert(T x) {
  if constexpr (kIsBool<T>)
    return !x;
  else
    return static_cast<T>(~x);
}
template <class T>
GPUCALL_FN T BitwiseAnd(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
GPUCALL_FN T BitwiseOr(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
GPUCALL_FN T BitwiseXor(T a, T b) {
  return static_cast<T>(a ^ b);
}
// A negative count is none that fits.
template <class T>
GPUCALL_FN bool IsShift(T count) {
  return static_cast<WrappingT<T>>(count) < static_cast<WrappingT<T>>(kBits<T>);
}
template <class T>
GPUCALL_FN T LeftShift(T a, T count) {
  const T within = IsShift(count) ? count : T(0);
  return IsShift(count) ? static_cast<T>(WrappingT<T>(a) << within) : T(0);
}
template <class T>
GPUCALL_FN T RightShift(T a, T count) {
  const T within = IsShift(count) ? count : static_cast<T>(kBits<T> - 1);
  const T shifted = static_cast<T>(a >> within);
  return kIsSigned<T> || IsShift(count) ? shifted : T(0);
}

// Integer division that is defined for every divisor: by 0 it gives 0, and the smallest integer by
// -1 wraps to itself. kFloor rounds down, else towards zero.
template <bool kFloor, class T>
GPUCALL_FN T QuotientOf(T a, T b) {
  const bool minus_one = kIsSigned<T> && b == static_cast<T>(-1);
  const T divisor = Either(b == T(0), minus_one) ? T(1) : b;
  const T quotient = static_cast<T>(a / divisor);
  const bool inexact = quotient * divisor != a;
  const bool down = kFloor && inexact && (a < T(0)) != (divisor < T(0));
  const T rounded = Subtract(quotient, static_cast<T>(down));
  return b == T(0) ? T(0) : minus_one ? Negative(a) : rounded;
}
template <bool kFloor, class T>
GPUCALL_FN T RestOf(T a, T b) {
  return b == T(0) ? T(0) : Subtract(a, Multiply(QuotientOf<kFloor>(a, b), b));
}
template <class T>
GPUCALL_FN T FloorDivide(T a, T b) {
  return QuotientOf<true>(a, b);
}
template <class T>
GPUCALL_FN T Remainder(T a, T b) {
  return RestOf<true>(a, b);
}
template <class T>
GPUCALL_FN T Fmod(T a, T b) {
  return RestOf<false>(a, b);
}
template <class T>
GPUCALL_FN T Reciprocal(T x) {
  if constexpr (kIsReal<T>)
    return T(1) / x;
  else
    return QuotientOf<false>(T(1), x);
}

template <class T>
GPUCALL_FN T Floor(T x) {
  return x;
}
template <class T>
GPUCALL_FN T Ceil(T x) {
  return x;
}
template <class T>
GPUCALL_FN T Trunc(T x) {
  return x;
}
template <class T>
GPUCALL_FN T Round(T x) {
  return x;
}

// Square and multiply, wrapping. Where PowerFaults, the result is not used.
template <class T>
GPUCALL_FN T Power(T base, T exponent) {
  T result = T(1);
  for (; exponent > T(0); exponent = static_cast<T>(exponent >> 1)) {
    if (exponent & 1) result = Multiply(result, base);
    base = Multiply(base, base);
  }
  return result;
}
// True where `exponent`, an integer, has no integer power: the call is then INVALID_ARGUMENT.
template <class T>
GPUCALL_FN bool PowerFaults(T exponent) {
  return exponent < T(0);
}

}  // namespace gpucall::elementwise

#endif  // GPUCALL_KERNELS_ELEMENTWISE_FUNCTIONS_H_
