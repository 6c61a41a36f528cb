// Mathematical functions of complex numbers: see elementwise_functions.h. Comes after
// elementwise_complex.h. Those of complex64 are computed in double and rounded once. Branch cuts
// are C's. Inverse functions: W. Kahan, "Branch cuts for complex elementary functions", 1987.
#ifndef GPUCALL_KERNELS_ELEMENTWISE_COMPLEX_MATH_H_
#define GPUCALL_KERNELS_ELEMENTWISE_COMPLEX_MATH_H_

namespace gpucall::elementwise {

using Wide = Complex<double>;

// i x and -i x.
GPUCALL_FN inline Wide TimesI(Wide x) { return {-x.im, x.re}; }
GPUCALL_FN inline Wide TimesMinusI(Wide x) { return {x.im, -x.re}; }

GPUCALL_FN inline Wide Exp(Wide x) {
  if (x.im == 0) return {Exp(x.re), x.im};
  if (!IsFinite(x.im)) {  // no angle
    if (x.re == -kInfinity<double>) return {0, 0};
    return {x.re == kInfinity<double> ? x.re : x.im - x.im, x.im - x.im};
  }
  constexpr double kLargest = 709;  // what exp takes
  const double rest = x.re > kLargest && IsFinite(x.re) ? x.re - kLargest : 0;
  const double size = Exp(x.re - rest), more = Exp(rest);
  return {size * Cos(x.im) * more, size * Sin(x.im) * more};
}

// log |x|, also where |x| is near 1: the squares' sum less 1 with the products' rounding errors.
GPUCALL_FN inline double LogAbs(Wide x) {
  if (IsNan(x)) return Hypot(x.re, x.im);  // infinite where a part is
  const double larger = Maximum(Abs(x.re), Abs(x.im)), smaller = Minimum(Abs(x.re), Abs(x.im));
  if (larger > 0.5 && larger < 2) {
    const double a = larger * larger, b = smaller * smaller;
    const double errors = fma(larger, larger, -a) + fma(smaller, smaller, -b);
    return 0.5 * Log1p((a - 1) + b + errors);
  }
  if (larger > 1e300) return Log(Hypot(x.re * 0.5, x.im * 0.5)) + 0.693147180559945309417232121458;
  if (larger < 1e-300)
    return Log(Hypot(x.re * 0x1p200, x.im * 0x1p200)) - 138.629436111989061883446;
  return Log(Hypot(x.re, x.im));
}
GPUCALL_FN inline Wide Log(Wide x) { return {LogAbs(x), Atan2(x.im, x.re)}; }
GPUCALL_FN inline Wide Log2(Wide x) {
  const Wide natural = Log(x);
  return {natural.re * 1.44269504088896340735992468100,
          natural.im * 1.44269504088896340735992468100};
}
GPUCALL_FN inline Wide Log10(Wide x) {
  const Wide natural = Log(x);
  return {natural.re * 0.434294481903251827651128918917,
          natural.im * 0.434294481903251827651128918917};
}
GPUCALL_FN inline Wide Log1p(Wide x) {
  const Wide moved = {x.re + 1, x.im};
  const bool small = Abs(x.re) < 0.5 && Abs(x.im) < 0.5;
  return {small ? 0.5 * Log1p(x.re * (2 + x.re) + x.im * x.im) : LogAbs(moved),
          Atan2(x.im, moved.re)};
}
GPUCALL_FN inline Wide Exp2(Wide x) {
  return Exp(
      Wide{x.re * 0.693147180559945309417232121458, x.im * 0.693147180559945309417232121458});
}
GPUCALL_FN inline Wide Expm1(Wide x) {
  const Wide moved = Exp(x);
  if (Abs(x.re) > 1 || !IsFinite(x.im)) return {moved.re - 1, moved.im};
  const double half = Sin(0.5 * x.im);
  return {Expm1(x.re) * Cos(x.im) - 2 * half * half, moved.im};
}

GPUCALL_FN inline Wide Sqrt(Wide x) {
  if (x.re == 0 && x.im == 0) return {0, x.im};
  if (IsInf(x.im)) return {kInfinity<double>, x.im};
  if (IsNan(x.im) && !IsInf(x.re)) return {x.im, x.im};
  // A scale that keeps squares and halves of the parts in range, and the root of 1 / scale.
  const double larger = Fmax(Abs(x.re), Abs(x.im));
  const double scale = larger > 1e300 ? 0x1p-4 : larger < 1e-290 ? 0x1p200 : 1;
  const double back = larger > 1e300 ? 0x1p2 : larger < 1e-290 ? 0x1p-100 : 1;
  const double size = Hypot(x.re * scale, x.im * scale);
  const double root = Sqrt((Abs(x.re) * scale + size) * 0.5) * back;
  const double other = Abs(x.im) / root * 0.5;
  if (IsInf(x.re)) {
    const double none = IsNan(x.im) ? x.im : 0;
    return x.re > 0 ? Wide{x.re, Copysign(none, x.im)} : Wide{none, Copysign(-x.re, x.im)};
  }
  return x.re >= 0 ? Wide{root, Copysign(other, x.im)} : Wide{other, Copysign(root, x.im)};
}

// Products of an infinite and a zero factor would be NaN.
GPUCALL_FN inline Wide Sinh(Wide x) {
  if (x.im == 0) return {Sinh(x.re), x.im};
  if (x.re == 0) return {IsFinite(x.im) ? x.re : 0, Sin(x.im)};
  if (Abs(x.re) < 700) return {Sinh(x.re) * Cos(x.im), Cosh(x.re) * Sin(x.im)};
  const Wide half = Exp(Wide{Abs(x.re) - 0.693147180559945309417232121458, x.im});
  return {Copysign(1.0, x.re) * half.re, half.im};
}
GPUCALL_FN inline Wide Cosh(Wide x) {
  if (x.im == 0) return {Cosh(x.re), Copysign(0.0, x.re) * x.im};
  if (x.re == 0) return {Cos(x.im), IsFinite(x.im) ? x.re * Sin(x.im) : 0};
  if (Abs(x.re) < 700) return {Cosh(x.re) * Cos(x.im), Sinh(x.re) * Sin(x.im)};
  const Wide half = Exp(Wide{Abs(x.re) - 0.693147180559945309417232121458, x.im});
  return {half.re, Copysign(1.0, x.re) * half.im};
}
GPUCALL_FN inline Wide Tanh(Wide x) {
  if (x.im == 0) return {Tanh(x.re), x.im};
  if (IsFinite(x.re) && !IsFinite(x.im)) return {x.im - x.im, x.im - x.im};
  if (Abs(x.re) > 20) {  // 4 sin cos e^-2|re| is all that is left of the imaginary part
    const double angle = IsFinite(x.im) ? Sin(x.im) * Cos(x.im) : 0;
    return {Copysign(1.0, x.re), 4 * angle * Exp(-2 * Abs(x.re))};
  }
  const double t = Tan(x.im), s = Sinh(x.re);
  const double beta = 1 + t * t, rho = Sqrt(1 + s * s), divisor = 1 + beta * s * s;
  return {beta * rho * s / divisor, t / divisor};
}
GPUCALL_FN inline Wide Sin(Wide x) { return TimesMinusI(Sinh(TimesI(x))); }
GPUCALL_FN inline Wide Cos(Wide x) { return Cosh(TimesI(x)); }
GPUCALL_FN inline Wide Tan(Wide x) { return TimesMinusI(Tanh(TimesI(x))); }

inline constexpr double kLargeArgument = 1e150;  // whose square is near overflow
inline constexpr double kSmallArgument = 1e-150;
// log(2 |x|) for such, and an angle.
GPUCALL_FN inline Wide LogTwice(Wide x, double angle) {
  return {LogAbs(x) + 0.693147180559945309417232121458, angle};
}
GPUCALL_FN inline bool IsLarge(Wide x) {
  return Abs(x.re) > kLargeArgument || Abs(x.im) > kLargeArgument;
}

GPUCALL_FN inline Wide Asinh(Wide x) {
  if (IsLarge(x)) {
    const Wide log = LogTwice(x, Atan2(x.im, Abs(x.re)));
    return {Copysign(log.re, x.re), log.im};
  }
  const Wide p = Sqrt(Wide{1 + x.im, -x.re}), q = Sqrt(Wide{1 - x.im, x.re});
  return {Asinh(p.re * q.im - q.re * p.im), Atan2(x.im, p.re * q.re - p.im * q.im)};
}
GPUCALL_FN inline Wide Asin(Wide x) { return TimesMinusI(Asinh(TimesI(x))); }
GPUCALL_FN inline Wide Acos(Wide x) {
  if (IsLarge(x)) {
    const Wide log = LogTwice(x, Atan2(Abs(x.im), x.re));
    return {log.im, Copysign(log.re, -x.im)};
  }
  const Wide p = Sqrt(Wide{1 - x.re, -x.im}), q = Sqrt(Wide{1 + x.re, x.im});
  return {2 * Atan2(p.re, q.re), Asinh(q.re * p.im - q.im * p.re)};
}
GPUCALL_FN inline Wide Acosh(Wide x) {
  if (IsLarge(x)) return LogTwice(x, Atan2(x.im, x.re));
  const Wide p = Sqrt(Wide{x.re - 1, x.im}), q = Sqrt(Wide{x.re + 1, x.im});
  return {Asinh(p.re * q.re + p.im * q.im), 2 * Atan2(p.im, q.re)};
}
GPUCALL_FN inline Wide Atanh(Wide x) {
  constexpr double kRightAngle = 1.57079632679489661923132169164;
  const double a = Abs(x.re), b = Abs(x.im);
  if (IsLarge(x)) {  // 1 / x, and a right angle
    const double size = Hypot(x.re * 0.5, x.im * 0.5);
    const double real = Either(IsInf(a), IsInf(b)) ? 0 : a / size / size * 0.25;
    return {Copysign(real, x.re), Copysign(kRightAngle, x.im)};
  }
  const double near_pole = (0.693147180559945309417232121458 - Log(b)) * 0.5;
  const double real =
      a == 1 && b < kSmallArgument ? near_pole : Log1p(4 * a / ((1 - a) * (1 - a) + b * b)) * 0.25;
  const double angle = Atan2(2 * b, (1 - a) * (1 + a) - b * b) * 0.5;
  return {Copysign(real, x.re), Copysign(angle, x.im)};
}
GPUCALL_FN inline Wide Atan(Wide x) { return TimesMinusI(Atanh(TimesI(x))); }

// Small integer powers by multiplication: exact where their products are.
GPUCALL_FN inline Wide Power(Wide a, Wide b) {
  constexpr double kMostProducts = 100;
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0) return {0, 0};
    return {kInfinity<double> - kInfinity<double>, kInfinity<double> - kInfinity<double>};
  }
  if (b.im == 0 && b.re == Round(b.re) && Abs(b.re) < kMostProducts) {
    Wide result = {1, 0}, factor = a;
    for (int n = static_cast<int>(Abs(b.re)); n > 0; n >>= 1) {
      if (n & 1) result = Multiply(result, factor);
      factor = Multiply(factor, factor);
    }
    return b.re < 0 ? Reciprocal(result) : result;
  }
  return Exp(Multiply(b, Log(a)));
}

#define GPUCALL_BY_WIDE(Function)                                      \
  GPUCALL_FN inline Complex<float> Function(Complex<float> x) {        \
    const Wide wide = Function(Wide{x.re, x.im});                      \
    return {static_cast<float>(wide.re), static_cast<float>(wide.im)}; \
  }
GPUCALL_BY_WIDE(Exp)
GPUCALL_BY_WIDE(Exp2)
GPUCALL_BY_WIDE(Expm1)
GPUCALL_BY_WIDE(Log)
GPUCALL_BY_WIDE(Log2)
GPUCALL_BY_WIDE(Log10)
GPUCALL_BY_WIDE(Log1p)
GPUCALL_BY_WIDE(Sqrt)
GPUCALL_BY_WIDE(Sin)
GPUCALL_BY_WIDE(Cos)
GPUCALL_BY_WIDE(Tan)
GPUCALL_BY_WIDE(Asin)
GPUCALL_BY_WIDE(Acos)
GPUCALL_BY_WIDE(Atan)
GPUCALL_BY_WIDE(Sinh)
GPUCALL_BY_WIDE(Cosh)
GPUCALL_BY_WIDE(Tanh)
GPUCALL_BY_WIDE(Asinh)
GPUCALL_BY_WIDE(Acosh)
GPUCALL_BY_WIDE(Atanh)
#undef GPUCALL_BY_WIDE
GPUCALL_FN inline Complex<float> Power(Complex<float> a, Complex<float> b) {
  const Wide wide = Power(Wide{a.re, a.im}, Wide{b.re, b.im});
  return {static_cast<float>(wide.re), static_cast<float>(wide.im)};
}

}  // namespace gpucall::elementwise

#endif  // GPUCALL_KERNELS_ELEMENTWISE_COMPLEX_MATH_H_
