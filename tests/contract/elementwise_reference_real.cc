#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/contract/elementwise_reference.h"

namespace gpucall::contract {
namespace {

using Op = ElementwiseOp;
using Real = long double;

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

struct FloatFormat {
  int precision;     // bits of the significand
  int min_exponent;  // of the smallest normal number, 2^min_exponent
};
FloatFormat FormatOf(DType dtype) {
  switch (RealPartOf(dtype)) {
    case DType::kFloat16:
      return {11, -14};
    case DType::kBfloat16:
      return {8, -126};
    case DType::kFloat32:
      return {24, -126};
    default:
      return {53, -1022};
  }
}

Real Low(Real a, Real b) { return a != a ? a : b != b ? b : std::min(a, b); }
Real High(Real a, Real b) { return a != a ? a : b != b ? b : std::max(a, b); }

Real FloorDivideOf(Real a, Real b) {
  if (b == 0) return a / b;
  const Real rest = std::fmod(a, b);
  Real quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  return quotient == 0 ? std::copysign(Real{0}, a / b) : std::nearbyint(quotient);
}
Real RemainderOf(Real a, Real b) {
  const Real rest = std::fmod(a, b);
  if (b == 0) return rest;
  if (rest == 0) return std::copysign(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}
Real SigmoidOf(Real x) {
  const Real e = std::exp(-std::abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
Real GateTimes(Real x, Real gate) { return gate == 0 ? -gate : x * gate; }

// Rounded to the dtype, of halves to float32, as between the two operations of multiply_add.
Real RoundedTo(DType dtype, Real value) {
  return dtype == DType::kFloat64 ? static_cast<double>(value) : static_cast<float>(value);
}

bool IsPowerOfTwo(Real x) {
  int exponent;
  return std::abs(std::frexp(x, &exponent)) == 0.5L;
}

Real NeighbourOf(DType dtype, Real a, Real b) {
  if (a != a || b != b) return a + b;
  if (a == b) return b;
  const Real up = b > a ? 1 : -1;
  const Real largest = LargestOf(dtype);
  if (std::isinf(a)) return -up * largest;
  const Real unit = UnitInLastPlace(dtype, a);
  // Towards zero from a power of two the step is half as long.
  const bool shorter = a != 0 && (a < 0) == (up > 0) && IsPowerOfTwo(a) &&
                       std::abs(a) > std::ldexp(Real{1}, FormatOf(dtype).min_exponent);
  const Real next = a + up * (shorter ? unit / 2 : unit);
  if (next == 0) return std::copysign(next, a);
  return std::abs(next) > largest ? std::copysign(std::numeric_limits<Real>::infinity(), next)
                                  : next;
}

}  // namespace

Expectation ExpectReal(Op op, DType dtype, Real a, Real b, Real c) {
  constexpr double kFunction = 4;  // units of mathematical functions
  switch (op) {
    case Op::kAbs:
      return {std::abs(a)};
    case Op::kNegative:
      return {-a};
    case Op::kRelu:
      return {High(a, 0)};
    case Op::kSquare:
      return {a * a};
    case Op::kAdd:
      return {a + b};
    case Op::kSubtract:
      return {a - b};
    case Op::kMultiply:
      return {a * b};
    case Op::kDivide:
      return {a / b};
    case Op::kMinimum:
      return {Low(a, b)};
    case Op::kMaximum:
      return {High(a, b)};
    case Op::kFmin:
      return {a <= b || b != b ? a : b};
    case Op::kFmax:
      return {a >= b || b != b ? a : b};
    case Op::kClip:
      return {Low(High(a, b), c)};
    case Op::kMultiplyAdd:
      return {RoundedTo(dtype, a * b) + c, ElementSize(dtype) == 2 ? 1.0 : 0.5};
    case Op::kSign:
      return {a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a};
    case Op::kReciprocal:
      return {1 / a};
    case Op::kFloor:
      return {std::floor(a)};
    case Op::kCeil:
      return {std::ceil(a)};
    case Op::kTrunc:
      return {std::trunc(a)};
    case Op::kRound:
      return {std::nearbyint(a)};
    case Op::kSqrt:
      return {std::sqrt(a)};
    case Op::kExp:
      return {std::exp(a), kFunction};
    case Op::kExp2:
      return {std::exp2(a), kFunction};
    case Op::kExpm1:
      return {std::expm1(a), kFunction};
    case Op::kLog:
      return {std::log(a), kFunction};
    case Op::kLog2:
      return {std::log2(a), kFunction};
    case Op::kLog10:
      return {std::log10(a), kFunction};
    case Op::kLog1p:
      return {std::log1p(a), kFunction};
    case Op::kCbrt:
      return {std::cbrt(a), kFunction};
    case Op::kSin:
      return {std::sin(a), kFunction};
    case Op::kCos:
      return {std::cos(a), kFunction};
    case Op::kTan:
      return {std::tan(a), kFunction};
    case Op::kAsin:
      return {std::asin(a), kFunction};
    case Op::kAcos:
      return {std::acos(a), kFunction};
    case Op::kAtan:
      return {std::atan(a), kFunction};
    case Op::kSinh:
      return {std::sinh(a), kFunction};
    case Op::kCosh:
      return {std::cosh(a), kFunction};
    case Op::kTanh:
      return {std::tanh(a), kFunction};
    case Op::kAsinh:
      return {std::asinh(a), kFunction};
    case Op::kAcosh:
      return {std::acosh(a), kFunction};
    case Op::kAtanh:
      return {std::atanh(a), kFunction};
    case Op::kErf:
      return {std::erf(a), kFunction};
    case Op::kSigmoid:
      return {SigmoidOf(a), kFunction};
    case Op::kSilu:
      return {GateTimes(a, SigmoidOf(a)), kFunction + 1};
    // The argument's own rounding counts, the more the steeper the tail.
    case Op::kGelu:
      return {GateTimes(a, std::erfc(-a * std::sqrt(Real{0.5})) / 2),
              static_cast<double>(kFunction + 2 * a * a)};
    case Op::kGeluTanh: {
      const Real u = std::sqrt(2 / std::acos(Real{-1})) * (a + 0.044715L * a * a * a);
      return {GateTimes(a, SigmoidOf(2 * u)), static_cast<double>(kFunction + 8 * std::abs(u))};
    }
    case Op::kSoftplus:
      return {std::max(a, Real{0}) + std::log1p(std::exp(-std::abs(a))) + (a != a ? a : 0),
              kFunction};
    case Op::kLeakyRelu:
      return {a > 0 ? a : a * b};
    case Op::kFloorDivide:
      return {FloorDivideOf(a, b), 1};
    case Op::kRemainder:
      return {RemainderOf(a, b)};
    case Op::kFmod:
      return {std::fmod(a, b)};
    case Op::kPower:
      return {std::pow(a, b), kFunction};
    case Op::kAtan2:
      return {std::atan2(a, b), kFunction};
    case Op::kHypot:
      return {std::hypot(a, b), kFunction};
    case Op::kLogAddExp: {
      const Real sum = std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
      const Real value = a == b ? a + std::log(Real{2}) : a != a || b != b ? kNan : sum;
      const Real lost = value == 0 ? 0 : std::max(std::abs(a), std::abs(b)) / std::abs(value);
      return {value, static_cast<double>(kFunction * (1 + (std::isfinite(lost) ? lost : 0)))};
    }
    case Op::kCopysign:
      return {std::copysign(a, b)};
    case Op::kNextAfter:
      return {NeighbourOf(dtype, a, b), 0};
    case Op::kIsNan:
      return {a != a};
    case Op::kIsInf:
      return {std::isinf(a)};
    case Op::kIsFinite:
      return {std::isfinite(a)};
    case Op::kSignbit:
      return {std::signbit(a)};
    case Op::kImag:
      return {0};
    default:  // positive, conj, real
      return {a};
  }
}

long double LargestOf(DType dtype) {
  const FloatFormat format = FormatOf(dtype);
  return std::ldexp(2 - std::ldexp(Real{1}, 1 - format.precision), 1 - format.min_exponent);
}

long double UnitInLastPlace(DType dtype, long double value) {
  const FloatFormat format = FormatOf(dtype);
  int exponent = format.min_exponent + 1;
  if (value != 0 && std::isfinite(value)) std::frexp(value, &exponent);
  return std::ldexp(Real{1}, std::max(exponent - 1, format.min_exponent) - (format.precision - 1));
}

}  // namespace gpucall::contract
