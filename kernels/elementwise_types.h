// The element types of elementwise kernels, and conversions between them: compiled into the CPU
// kernels and given as text to NVRTC, so no includes and no std:: here. The includer declares
// GPUCALL_FN (nothing, or __device__) and the conversions of float16's bits:
//   float FloatOfHalf(unsigned short bits)   exact
//   unsigned short HalfOfFloat(float x)      to nearest, halves to even; past 65504 infinite
#ifndef GPUCALL_KERNELS_ELEMENTWISE_TYPES_H_
#define GPUCALL_KERNELS_ELEMENTWISE_TYPES_H_

namespace gpucall::elementwise {

template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;

// Stored as their bits; arithmetic on them is arithmetic on float, rounded once.
struct Float16 {
  unsigned short bits;
};
struct Bfloat16 {
  unsigned short bits;
};
template <class T>
struct Complex {
  T re, im;
};

template <class T>
inline constexpr bool kIsHalf = kIsSame<T, Float16> || kIsSame<T, Bfloat16>;
template <class T>
inline constexpr bool kIsComplex = kIsSame<T, Complex<float>> || kIsSame<T, Complex<double>>;
template <class T>
inline constexpr bool kIsReal = kIsSame<T, float> || kIsSame<T, double>;
template <class T>
inline constexpr bool kIsBool = kIsSame<T, bool>;
template <class T>
inline constexpr bool kIsInteger = !kIsHalf<T> && !kIsComplex<T> && !kIsReal<T> && !kIsBool<T>;

// What an element is computed with.
template <class T>
struct ComputedAs {
  using Type = T;
};
template <>
struct ComputedAs<Float16> {
  using Type = float;
};
template <>
struct ComputedAs<Bfloat16> {
  using Type = float;
};
template <class T>
using ComputedAsT = typename ComputedAs<T>::Type;

// The type whose arithmetic wraps for T, and its unsigned twin.
template <class T, bool kWide = (sizeof(T) == 8)>
struct WrappingInteger {
  using Type = unsigned;
};
template <class T>
struct WrappingInteger<T, true> {
  using Type = unsigned long long;
};
template <class T, bool kTakes = kIsInteger<T>>
struct Wrapping {
  using Type = T;
};
template <class T>
struct Wrapping<T, true> {
  using Type = typename WrappingInteger<T>::Type;
};
template <class T>
using WrappingT = typename Wrapping<T>::Type;

template <class T>
inline constexpr bool kIsSigned = T(-1) < T(1);
// Of integers.
template <class T>
inline constexpr int kBits = 8 * static_cast<int>(sizeof(T));
template <class T>
inline constexpr T kHighest = kIsSigned<T> ? static_cast<T>((1ull << (kBits<T> - 1)) - 1)
                                           : static_cast<T>(~0ull);
template <class T>
inline constexpr T kLowest = kIsSigned<T> ? static_cast<T>(1ull << (kBits<T> - 1)) : T(0);

// Both are computed, without a branch, so that loops over them vectorise.
GPUCALL_FN inline bool Either(bool a, bool b) {
  return (static_cast<int>(a) | static_cast<int>(b)) != 0;
}
GPUCALL_FN inline bool Both(bool a, bool b) {
  return (static_cast<int>(a) & static_cast<int>(b)) != 0;
}

GPUCALL_FN inline unsigned BitsOf(float x) { return __builtin_bit_cast(unsigned, x); }
GPUCALL_FN inline unsigned long long BitsOf(double x) {
  return __builtin_bit_cast(unsigned long long, x);
}
GPUCALL_FN inline float OfBits(unsigned bits) { return __builtin_bit_cast(float, bits); }
GPUCALL_FN inline double OfBits(unsigned long long bits) {
  return __builtin_bit_cast(double, bits);
}

GPUCALL_FN inline float Widened(Float16 x) { return FloatOfHalf(x.bits); }
GPUCALL_FN inline float Widened(Bfloat16 x) { return OfBits(static_cast<unsigned>(x.bits) << 16); }
template <class T>
GPUCALL_FN T Widened(T x) {
  return x;
}

// To the nearest float16 or bfloat16, halves to even. NaN stays NaN.
template <class To>
GPUCALL_FN To Narrowed(float x) {
  if constexpr (kIsSame<To, Float16>) {
    return {HalfOfFloat(x)};
  } else {
    const unsigned bits = BitsOf(x);
    const unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return {static_cast<unsigned short>(x == x ? rounded : (bits >> 16) | 0x40u)};
  }
}

// The float that rounds as `x` does to anything narrower than float: what is not exact is made odd.
GPUCALL_FN inline float RoundedToOdd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const unsigned bits = BitsOf(nearest);
  const unsigned truncated = (back < 0 ? -back : back) > (x < 0 ? -x : x) ? bits - 1u : bits;
  return Either(back == x, x != x) ? nearest : OfBits(truncated | 1u);
}

// Towards zero; what T does not hold becomes the nearest that it does; NaN becomes 0.
template <class T, class Real>
GPUCALL_FN T Truncated(Real x) {
  // 2^k for the first value past T: exact in any float type, while the highest itself may not be.
  constexpr Real kPast = static_cast<Real>(1ull << (kBits<T> - 1)) * (kIsSigned<T> ? 1 : 2);
  constexpr Real kLeast = kIsSigned<T> ? -kPast : Real(0);
  if constexpr (sizeof(T) < sizeof(int)) {  // by way of int, whose conversions are vectors
    x = x == x ? x : Real(0);
    x = x > kLeast ? x : kLeast;
    x = x < kPast ? x : kPast - Real(1);
    return static_cast<T>(static_cast<int>(x));
  } else {
    const bool fits = (x > kLeast) & (x < kPast);
    const T inside = static_cast<T>(fits ? x : Real(0));
    return fits ? inside : x >= kPast ? kHighest<T> : x <= kLeast ? kLowest<T> : T(0);
  }
}

// `x`, an element as it is computed with, as To, an element as it is stored. As NumPy's astype:
// floats to integers are cut off towards zero (see Truncated for what does not fit), integers to
// integers wrap, complex numbers to real ones lose their imaginary part, all to bool is x != 0.
template <class To, class From>
GPUCALL_FN To Cast(From x) {
  if constexpr (kIsSame<To, From>) {
    return x;
  } else if constexpr (kIsBool<To>) {
    if constexpr (kIsComplex<From>)
      return (x.re != 0) | (x.im != 0);
    else
      return x != From(0);
  } else if constexpr (kIsComplex<To>) {
    using Part = decltype(To::re);
    if constexpr (kIsComplex<From>)
      return {static_cast<Part>(x.re), static_cast<Part>(x.im)};
    else
      return {static_cast<Part>(x), Part(0)};
  } else if constexpr (kIsComplex<From>) {
    return Cast<To>(x.re);
  } else if constexpr (kIsHalf<To>) {
    if constexpr (kIsSame<From, double>)
      return Narrowed<To>(RoundedToOdd(x));
    else
      return Narrowed<To>(static_cast<float>(x));
  } else if constexpr (kIsInteger<To> && kIsReal<From>) {
    return Truncated<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace gpucall::elementwise

#endif  // GPUCALL_KERNELS_ELEMENTWISE_TYPES_H_
