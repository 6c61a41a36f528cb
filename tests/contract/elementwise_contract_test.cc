// Every elementwise operation x dtype against what it computes, written out.
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "server/program/catalogue.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

using Op = ElementwiseOp;

constexpr DType kDTypes[] = {DType::kBool, DType::kUint8, DType::kInt32, DType::kFloat32,
                             DType::kFloat64};
constexpr int kOpCount = 19;

// Arithmetic of T: C's for floats, modulo 2^bits for integers, or and and for bools.
template <class T>
T Plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  if constexpr (std::is_integral_v<T>) return static_cast<T>(int64_t{a} + int64_t{b});
  return static_cast<T>(a + b);
}
template <class T>
T Times(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a && b;
  if constexpr (std::is_integral_v<T>) return static_cast<T>(int64_t{a} * int64_t{b});
  return static_cast<T>(a * b);
}
template <class T>
T Low(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return b < a ? b : a;
}
template <class T>
T High(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  return b > a ? b : a;
}
template <class T>
T IntegerPower(T base, T exponent) {
  T result = 1;
  for (int i = 0; i < static_cast<int>(exponent); ++i) result = Times(result, base);
  return result;
}

// In more precision than T where the result is not that of one rounding.
template <class T>
long double Function(Op op, T x, T y) {
  const long double wide = x;
  switch (op) {
    case Op::kExp:
      return std::exp(wide);
    case Op::kLog:
      return std::log(wide);
    case Op::kTanh:
      return std::tanh(wide);
    case Op::kSigmoid:
      return 1 / (1 + std::exp(-wide));
    default:
      return std::pow(wide, static_cast<long double>(y));
  }
}
bool IsFunction(Op op) {
  return op == Op::kExp || op == Op::kLog || op == Op::kTanh || op == Op::kSigmoid ||
         op == Op::kPower;
}

template <class T>
T Reference(Op op, T a, T b, T c, bool condition) {
  switch (op) {
    case Op::kAbs:
      return a < T(0) ? Plus(T(0), Times(a, T(-1))) : a == T(0) ? T(0) : a;
    case Op::kNegative:
      return Times(a, T(-1));
    case Op::kSqrt:
      return static_cast<T>(std::sqrt(a));
    case Op::kRelu:
      return High(a, T(0));
    case Op::kSquare:
      return Times(a, a);
    case Op::kAdd:
      return Plus(a, b);
    case Op::kSubtract:
      return Plus(a, Times(b, T(-1)));
    case Op::kMultiply:
      return Times(a, b);
    case Op::kDivide:
      return a / b;
    case Op::kPower:
      return IntegerPower(a, b);
    case Op::kMinimum:
      return Low(a, b);
    case Op::kMaximum:
      return High(a, b);
    case Op::kClip:
      return Low(High(a, b), c);
    case Op::kWhere:
      return condition ? b : c;
    case Op::kMultiplyAdd: {
      const volatile T product = Times(a, b);  // rounded
      return Plus(T(product), c);
    }
    default:
      ADD_FAILURE() << "not reached";
      return T(0);
  }
}

// Steps between neighbours of T from `got` to `wanted`.
template <class T>
double UlpDistance(T got, long double wanted) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(got) || std::isnan(rounded))
    return std::isnan(got) && std::isnan(rounded) ? 0 : 1e9;
  if (got == rounded) return 0;
  if (std::isinf(got) || std::isinf(rounded)) return 1e9;
  const T step =
      std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity()) - std::abs(rounded);
  return static_cast<double>(std::abs(got - wanted) / step);
}

template <class T>
void Check(Op op, const std::vector<Array>& inputs, const Array& got) {
  const bool select = op == Op::kWhere;
  const auto operand = [&](size_t which, int64_t i) {
    return which < inputs.size() ? static_cast<T>(inputs[which].at(i)) : T(0);
  };
  for (int64_t i = 0; i < got.count(); ++i) {
    const T a = select ? T(0) : operand(0, i), b = operand(1, i), c = operand(2, i);
    const T result = static_cast<T>(got.at(i));
    const std::string where = absl::StrCat("element ", i, " of ", double(a), ", ", double(b), ", ",
                                           double(c), ": got ", double(result));
    if constexpr (std::is_floating_point_v<T>) {
      if (IsFunction(op)) {
        ASSERT_LE(UlpDistance(result, Function(op, a, b)), 4)
            << where << ", wanted " << double(Function(op, a, b));
        continue;
      }
    }
    const T wanted = Reference(op, a, b, c, select && inputs[0].at(i) != 0);
    if (wanted != wanted) {
      ASSERT_NE(result, result) << where;
      continue;
    }
    ASSERT_EQ(result, wanted) << where;
    ASSERT_EQ(std::signbit(double(result)), std::signbit(double(wanted))) << where;
  }
}

void CheckAs(DType dtype, Op op, const std::vector<Array>& inputs, const Array& got) {
  ASSERT_EQ(got.type.dtype, dtype);
  switch (dtype) {
    case DType::kBool:
      return Check<bool>(op, inputs, got);
    case DType::kUint8:
      return Check<uint8_t>(op, inputs, got);
    case DType::kInt32:
      return Check<int32_t>(op, inputs, got);
    case DType::kFloat32:
      return Check<float>(op, inputs, got);
    default:
      return Check<double>(op, inputs, got);
  }
}

// Inputs of one shape; integer exponents are not negative.
std::vector<Array> InputsFor(Op op, const std::vector<DType>& dtypes, const Shape& shape) {
  std::vector<Array> inputs;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const bool exponent = op == Op::kPower && i == 1;
    inputs.push_back(exponent && !IsFloating(dtypes[i])
                         ? UniformArray(dtypes[i], shape, 0, 9, 7)
                         : MixedArray(dtypes[i], shape, static_cast<unsigned>(3 * i + 1)));
  }
  return inputs;
}

struct Case {
  Op op;
  std::vector<DType> dtypes;  // of the operands
  DType computed_in;
};

// Those offered with a first operand of any dtype and the others of any one.
std::vector<Case> Cases(bool mixed) {
  std::vector<Case> cases;
  for (int op = 0; op < kOpCount; ++op) {
    for (DType first : kDTypes) {
      for (DType others : kDTypes) {
        std::vector<DType> dtypes(static_cast<size_t>(RowOf(static_cast<Op>(op)).inputs), others);
        dtypes[0] = first;
        const auto computed_in = ComputeDType(static_cast<Op>(op), dtypes);
        if (!computed_in.ok() || (first != others) != mixed) continue;
        if (mixed && dtypes.size() == 1) continue;
        cases.push_back({static_cast<Op>(op), dtypes, *computed_in});
      }
    }
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  std::string name(RowOf(info.param.op).name);
  for (DType dtype : info.param.dtypes) absl::StrAppend(&name, "_", DTypeName(dtype));
  return name;
}

class ElementwiseContract : public DeviceTest, public testing::WithParamInterface<Case> {
 protected:
  void CheckShape(const Shape& shape) {
    SCOPED_TRACE(ShapeString(shape));
    const auto& [op, dtypes, computed_in] = GetParam();
    const std::vector<Array> inputs = InputsFor(op, dtypes, shape);
    const Array got = Run(op, inputs);
    ASSERT_EQ(got.type.shape, shape);
    CheckAs(computed_in, op, inputs, got);
  }
};
class MixedElementwiseContract : public ElementwiseContract {};

TEST_P(ElementwiseContract, ComputesItsFunction) {
  for (const Shape& shape : {Shape{}, {1}, {0}, {7, 0}, {17, 31}, {5000}, {1, 129, 3}}) {
    CheckShape(shape);
  }
}
INSTANTIATE_TEST_SUITE_P(OneDType, ElementwiseContract, testing::ValuesIn(Cases(false)), CaseName);

TEST_P(MixedElementwiseContract, ConvertsOperands) { CheckShape({333}); }
INSTANTIATE_TEST_SUITE_P(Mixed, MixedElementwiseContract, testing::ValuesIn(Cases(true)), CaseName);

TEST_F(DeviceTest, EveryElementwiseOperationIsTested) {
  ASSERT_EQ(Catalogue()[kOpCount].kind, OperationKind::kMatMul);
}

TEST_F(DeviceTest, BoolBytesOtherThanOneAreTrue) {
  Array a = ArrayOf<uint8_t>({4}, {0, 1, 2, 255});
  a.type.dtype = DType::kBool;
  const Array zero = ArrayOf<bool>({}, {false});
  EXPECT_TRUE(SameElements(Run(Op::kAdd, {a, zero}), ArrayOf<bool>({4}, {0, 1, 1, 1})));
  EXPECT_TRUE(
      SameElements(Run(Op::kWhere, {a, ArrayOf<int32_t>({}, {5}), ArrayOf<int32_t>({}, {6})}),
                   ArrayOf<int32_t>({4}, {6, 5, 5, 5})));
  EXPECT_TRUE(SameElements(Run(Op::kAdd, {a, ArrayOf<int32_t>({}, {10})}),
                           ArrayOf<int32_t>({4}, {10, 11, 11, 11})));
}

TEST_F(DeviceTest, NanConditionIsTrue) {
  const Array condition = ArrayOf<float>({3}, {std::nanf(""), 0.0f, -0.0f});
  EXPECT_TRUE(
      SameElements(Run(Op::kWhere, {condition, ArrayOf<float>({}, {1}), ArrayOf<float>({}, {2})}),
                   ArrayOf<float>({3}, {1, 2, 2})));
}

TEST_F(DeviceTest, LargeArrays) {
  const Array a = MixedArray(DType::kFloat32, {1, 1234567}, 1);
  const Array b = MixedArray(DType::kFloat32, {1234567}, 2);
  CheckAs(DType::kFloat32, Op::kMultiply, {a, b}, Run(Op::kMultiply, {a, b}));
}

}  // namespace
}  // namespace gpucall::contract
