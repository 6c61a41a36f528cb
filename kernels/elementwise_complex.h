// Arithmetic and comparisons of complex numbers: see elementwise_functions.h. Comes after
// elementwise_math.h.
#ifndef GPUCALL_KERNELS_ELEMENTWISE_COMPLEX_H_
#define GPUCALL_KERNELS_ELEMENTWISE_COMPLEX_H_

namespace gpucall::elementwise {

template <class T>
GPUCALL_FN Complex<T> Add(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
GPUCALL_FN Complex<T> Subtract(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
GPUCALL_FN Complex<T> Multiply(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
GPUCALL_FN Complex<T> Negative(Complex<T> x) {
  return {-x.re, -x.im};
}
template <class T>
GPUCALL_FN Complex<T> Conj(Complex<T> x) {
  return {x.re, -x.im};
}
template <class T>
GPUCALL_FN T Real(Complex<T> x) {
  return x.re;
}
template <class T>
GPUCALL_FN T Imag(Complex<T> x) {
  return x.im;
}
template <class T>
GPUCALL_FN T Abs(Complex<T> x) {
  return Hypot(x.re, x.im);
}
template <class T>
GPUCALL_FN Complex<T> Round(Complex<T> x) {
  return {Round(x.re), Round(x.im)};
}
// By Smith: without overflow of the divisor's square.
template <class T>
GPUCALL_FN Complex<T> Divide(Complex<T> a, Complex<T> b) {
  if (Abs(b.re) >= Abs(b.im)) {
    if (b.re == T(0) && b.im == T(0)) return {a.re / Abs(b.re), a.im / Abs(b.re)};
    const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
template <class T>
GPUCALL_FN Complex<T> Reciprocal(Complex<T> x) {
  if (Abs(x.re) >= Abs(x.im)) {
    const T ratio = x.im / x.re, divisor = x.re + x.im * ratio;
    return {T(1) / divisor, -ratio / divisor};
  }
  const T ratio = x.re / x.im, divisor = x.re * ratio + x.im;
  return {ratio / divisor, T(-1) / divisor};
}

template <class T>
GPUCALL_FN bool IsNan(Complex<T> x) {
  return Either(IsNan(x.re), IsNan(x.im));
}
template <class T>
GPUCALL_FN bool IsInf(Complex<T> x) {
  return Either(IsInf(x.re), IsInf(x.im));
}
template <class T>
GPUCALL_FN bool IsFinite(Complex<T> x) {
  return Both(IsFinite(x.re), IsFinite(x.im));
}
template <class T>
GPUCALL_FN bool Equal(Complex<T> a, Complex<T> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <class T>
GPUCALL_FN bool NotEqual(Complex<T> a, Complex<T> b) {
  return (a.re != b.re) | (a.im != b.im);
}
// By real part, then imaginary; false where a part that decides is NaN.
template <class T>
GPUCALL_FN bool Less(Complex<T> a, Complex<T> b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
}
template <class T>
GPUCALL_FN bool LessEqual(Complex<T> a, Complex<T> b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im <= b.im));
}
template <class T>
GPUCALL_FN bool Greater(Complex<T> a, Complex<T> b) {
  return Less(b, a);
}
template <class T>
GPUCALL_FN bool GreaterEqual(Complex<T> a, Complex<T> b) {
  return LessEqual(b, a);
}
template <class T>
GPUCALL_FN Complex<T> Minimum(Complex<T> a, Complex<T> b) {
  return Either(LessEqual(a, b), IsNan(a)) ? a : b;
}
template <class T>
GPUCALL_FN Complex<T> Maximum(Complex<T> a, Complex<T> b) {
  return Either(GreaterEqual(a, b), IsNan(a)) ? a : b;
}
template <class T>
GPUCALL_FN Complex<T> Fmin(Complex<T> a, Complex<T> b) {
  return Either(LessEqual(a, b), IsNan(b)) ? a : b;
}
template <class T>
GPUCALL_FN Complex<T> Fmax(Complex<T> a, Complex<T> b) {
  return Either(GreaterEqual(a, b), IsNan(b)) ? a : b;
}
template <class T>
GPUCALL_FN Complex<T> Sign(Complex<T> x) {
  const T size = Abs(x);
  if (size == T(0)) return {T(0), T(0)};
  if (size < kInfinity<T>) return {x.re / size, x.im / size};
  const bool real = IsInf(x.re), imaginary = IsInf(x.im);
  if (real == imaginary) return {size - size, size - size};  // no angle
  return {real ? Copysign(T(1), x.re) : T(0), imaginary ? Copysign(T(1), x.im) : T(0)};
}

}  // namespace gpucall::elementwise

#endif  // GPUCALL_KERNELS_ELEMENTWISE_COMPLEX_H_
