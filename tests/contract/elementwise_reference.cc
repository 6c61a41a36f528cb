#include "tests/contract/elementwise_reference.h"

#include <algorithm>

namespace gpucall::contract {
namespace {

using Op = ElementwiseOp;
using Real = long double;
using Integer = __int128;
using Unsigned = unsigned __int128;

// The integer of `dtype` that `value` wraps to.
Integer Wrap(DType dtype, Integer value) {
  const int bits = 8 * static_cast<int>(ElementSize(dtype));
  const Integer modulus = Integer{1} << bits;
  const Integer rest = (value % modulus + modulus) % modulus;
  const bool high = KindOf(dtype) == DTypeKind::kSigned && rest >= modulus / 2;
  return high ? rest - modulus : rest;
}

// Modulo 2^128.
Integer Product(Integer a, Integer b) {
  return static_cast<Integer>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}

Integer FloorQuotient(Integer a, Integer b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Integer Shifted(DType dtype, Integer a, Integer count, bool left) {
  const bool fits = count >= 0 && count < 8 * static_cast<int>(ElementSize(dtype));
  if (left) return fits ? static_cast<Integer>(static_cast<Unsigned>(a) << count) : 0;
  return fits ? a >> count : a < 0 ? -1 : 0;
}

Integer PowerOf(DType dtype, Integer base, Integer exponent) {
  Integer result = 1;
  for (Integer i = 0; i < exponent; ++i) result = Wrap(dtype, Product(result, base));
  return result;
}

Integer ExpectInteger(Op op, DType dtype, Integer a, Integer b, Integer c) {
  switch (op) {
    case Op::kAbs:
      return a < 0 ? -a : a;
    case Op::kNegative:
      return -a;
    case Op::kRelu:
      return std::max<Integer>(a, 0);
    case Op::kSquare:
      return Product(a, a);
    case Op::kAdd:
      return a + b;
    case Op::kSubtract:
      return a - b;
    case Op::kMultiply:
      return Product(a, b);
    case Op::kPower:
      return PowerOf(dtype, a, b);
    case Op::kMinimum:
    case Op::kFmin:
      return std::min(a, b);
    case Op::kMaximum:
    case Op::kFmax:
      return std::max(a, b);
    case Op::kClip:
      return std::min(std::max(a, b), c);
    case Op::kMultiplyAdd:
      return Wrap(dtype, Product(a, b)) + c;
    case Op::kSign:
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Op::kReciprocal:
      return a == 0 ? 0 : 1 / a;
    case Op::kImag:
      return 0;
    case Op::kFloorDivide:
      return b == 0 ? 0 : FloorQuotient(a, b);
    case Op::kRemainder:
      return b == 0 ? 0 : a - b * FloorQuotient(a, b);
    case Op::kFmod:
      return b == 0 ? 0 : a % b;
    case Op::kBitwiseInvert:
      return ~a;
    case Op::kBitwiseAnd:
      return a & b;
    case Op::kBitwiseOr:
      return a | b;
    case Op::kBitwiseXor:
      return a ^ b;
    case Op::kLeftShift:
      return Shifted(dtype, a, b, true);
    case Op::kRightShift:
      return Shifted(dtype, a, b, false);
    default:  // positive, floor, ceil, trunc, round, conj, real
      return a;
  }
}

bool ExpectBool(Op op, bool a, bool b, bool c) {
  switch (op) {
    case Op::kAdd:
    case Op::kMaximum:
    case Op::kFmax:
    case Op::kBitwiseOr:
    case Op::kLogicalOr:
      return a || b;
    case Op::kMultiply:
    case Op::kMinimum:
    case Op::kFmin:
    case Op::kBitwiseAnd:
    case Op::kLogicalAnd:
      return a && b;
    case Op::kClip:
      return (a || b) && c;
    case Op::kMultiplyAdd:
      return (a && b) || c;
    case Op::kBitwiseXor:
    case Op::kLogicalXor:
      return a != b;
    case Op::kBitwiseInvert:
    case Op::kLogicalNot:
      return !a;
    case Op::kImag:
      return false;
    default:  // abs, floor, ceil, trunc, real
      return a;
  }
}

}  // namespace

Expectation Expect(ElementwiseOp op, DType computed_in, const std::array<Number, 3>& operands) {
  const auto [a, b, c] = operands;
  const Real x = a.real(), y = b.real(), z = c.real();
  switch (op) {
    case Op::kEqual:
      return {a == b, 0};
    case Op::kNotEqual:
      return {a != b, 0};
    case Op::kLess:
      return {IsBefore(a, b), 0};
    case Op::kLessEqual:
      return {IsBefore(a, b) || a == b, 0};
    case Op::kGreater:
      return {IsBefore(b, a), 0};
    case Op::kGreaterEqual:
      return {IsBefore(b, a) || a == b, 0};
    case Op::kWhere:
      return {a != Number{0} ? b : c, 0};
    default:
      break;
  }
  switch (KindOf(computed_in)) {
    case DTypeKind::kBool:
      return {ExpectBool(op, x != 0, y != 0, z != 0), 0};
    case DTypeKind::kUnsigned:
    case DTypeKind::kSigned: {
      const Integer exact = ExpectInteger(op, computed_in, static_cast<Integer>(x),
                                          static_cast<Integer>(y), static_cast<Integer>(z));
      return {static_cast<Real>(Wrap(computed_in, exact)), 0};
    }
    case DTypeKind::kComplex:
      return ExpectComplex(op, a, b, c);
    default:
      return ExpectReal(op, computed_in, x, y, z);
  }
}

}  // namespace gpucall::contract
