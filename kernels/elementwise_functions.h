// What each elementwise operation computes for one element: the one definition, compiled into the
// CPU kernels and given as text to NVRTC for the CUDA kernels. So no includes and no std:: here;
// the includer declares the mathematical functions (<math.h>; built in for NVRTC), GPUCALL_FN
// (nothing, or __device__) and before this kernels/elementwise_types.h.
//
// T is the dtype computed in. Integers wrap. Nothing
// here contracts a*b+c (both compilers are told not to), so a fused chain gives the bits of its
// operations one by one.
#ifndef GPUCALL_KERNELS_ELEMENTWISE_FUNCTIONS_H_
#define GPUCALL_KERNELS_ELEMENTWISE_FUNCTIONS_H_

namespace gpucall::elementwise {

template <class T>
GPUCALL_FN T Add(T a, T b) {
  return static_cast<T>(WrappingT<T>(a) + WrappingT<T>(b));
}
template <>
GPUCALL_FN inline bool Add(bool a, bool b) {
  return a || b;
}
template <class T>
GPUCALL_FN T Subtract(T a, T b) {
  return static_cast<T>(WrappingT<T>(a) - WrappingT<T>(b));
}
template <class T>
GPUCALL_FN T Multiply(T a, T b) {
  return static_cast<T>(WrappingT<T>(a) * WrappingT<T>(b));
}
template <>
GPUCALL_FN inline bool Multiply(bool a, bool b) {
  return a && b;
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
GPUCALL_FN T Negative(T x) {
  return Subtract(T(0), x);
}
template <>
GPUCALL_FN inline float Negative(float x) {
  return -x;
}
template <>
GPUCALL_FN inline double Negative(double x) {
  return -x;
}

// The smallest integer stays as it is.
template <class T>
GPUCALL_FN T Abs(T x) {
  return x < T(0) ? Negative(x) : x;
}
template <>
GPUCALL_FN inline bool Abs(bool x) {
  return x;
}
template <>
GPUCALL_FN inline float Abs(float x) {
  return fabsf(x);
}
template <>
GPUCALL_FN inline double Abs(double x) {
  return fabs(x);
}

// NaN wins; of zeros with unlike signs the first is given. With | for ||, loops vectorise.
template <class T>
GPUCALL_FN T Minimum(T a, T b) {
  return ((a <= b) | (a != a)) ? a : b;
}
template <>
GPUCALL_FN inline bool Minimum(bool a, bool b) {
  return a && b;
}
template <class T>
GPUCALL_FN T Maximum(T a, T b) {
  return ((a >= b) | (a != a)) ? a : b;
}
template <>
GPUCALL_FN inline bool Maximum(bool a, bool b) {
  return a || b;
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
GPUCALL_FN T Where(bool condition, T x, T y) {
  return condition ? x : y;
}

GPUCALL_FN inline float Exp(float x) { return expf(x); }
GPUCALL_FN inline double Exp(double x) { return exp(x); }
GPUCALL_FN inline float Log(float x) { return logf(x); }
GPUCALL_FN inline double Log(double x) { return log(x); }
GPUCALL_FN inline float Sqrt(float x) { return sqrtf(x); }
GPUCALL_FN inline double Sqrt(double x) { return sqrt(x); }
GPUCALL_FN inline float Tanh(float x) { return tanhf(x); }
GPUCALL_FN inline double Tanh(double x) { return tanh(x); }

// Never overflows: the exponent is never positive.
template <class T>
GPUCALL_FN T Sigmoid(T x) {
  const T e = Exp(-Abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
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
template <>
GPUCALL_FN inline float Power(float a, float b) {
  return powf(a, b);
}
template <>
GPUCALL_FN inline double Power(double a, double b) {
  return pow(a, b);
}

// True where `exponent` has no integer power: the call is then INVALID_ARGUMENT.
template <class T>
GPUCALL_FN bool PowerFaults(T exponent) {
  return exponent < T(0);
}
template <>
GPUCALL_FN inline bool PowerFaults(float) {
  return false;
}
template <>
GPUCALL_FN inline bool PowerFaults(double) {
  return false;
}

}  // namespace gpucall::elementwise

#endif  // GPUCALL_KERNELS_ELEMENTWISE_FUNCTIONS_H_
