#include <cmath>

#include "tests/contract/elementwise_reference.h"

namespace gpucall::contract {
namespace {

using Op = ElementwiseOp;
using Real = long double;

}  // namespace

bool IsBefore(Number a, Number b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

Expectation ExpectComplex(Op op, Number a, Number b, Number c) {
  constexpr double kArithmetic = 3, kFunction = 8;
  const Real ln2 = std::log(Real{2});
  switch (op) {
    case Op::kAbs:
      return {std::abs(a), 2};
    case Op::kNegative:
      return {-a};
    case Op::kSquare:
      return {a * a, kArithmetic};
    case Op::kAdd:
      return {a + b, 1};
    case Op::kSubtract:
      return {a - b, 1};
    case Op::kMultiply:
      return {a * b, kArithmetic};
    case Op::kDivide:
      return {a / b, kFunction};
    case Op::kReciprocal:
      return {Real{1} / a, kFunction};
    case Op::kMultiplyAdd: {
      const Number sum = a * b + c;
      return {sum, static_cast<double>(kArithmetic * (1 + (std::abs(a * b)) / std::abs(sum)))};
    }
    case Op::kMinimum:
    case Op::kFmin:
      return {IsBefore(b, a) ? b : a};
    case Op::kMaximum:
    case Op::kFmax:
      return {IsBefore(a, b) ? b : a};
    case Op::kClip: {
      const Number raised = IsBefore(a, b) ? b : a;
      return {IsBefore(c, raised) ? c : raised};
    }
    case Op::kSign:
      return {a / std::abs(a), kArithmetic};
    case Op::kRound:
      return {{std::nearbyint(a.real()), std::nearbyint(a.imag())}};
    case Op::kConj:
      return {std::conj(a)};
    case Op::kReal:
      return {a.real()};
    case Op::kImag:
      return {a.imag()};
    case Op::kIsFinite:
      return {1};
    case Op::kIsNan:
    case Op::kIsInf:
      return {0};
    case Op::kExp:
      return {std::exp(a), kFunction};
    case Op::kExp2:
      return {std::exp(a * ln2), kFunction * 4};
    case Op::kExpm1:
      return {std::exp(a) - Real{1}, kFunction};
    case Op::kLog:
      return {std::log(a), kFunction};
    case Op::kLog2:
      return {std::log(a) / ln2, kFunction};
    case Op::kLog10:
      return {std::log10(a), kFunction};
    case Op::kLog1p:
      return {std::log(a + Real{1}), kFunction};
    case Op::kSqrt:
      return {std::sqrt(a), kFunction};
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
    case Op::kPower:  // the logarithm's error times the exponent
      return {std::pow(a, b),
              static_cast<double>(kFunction * (1 + std::abs(b) * std::abs(std::log(a))))};
    default:  // positive
      return {a};
  }
}

}  // namespace gpucall::contract
