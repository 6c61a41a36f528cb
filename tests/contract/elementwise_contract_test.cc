// Every elementwise operation x dtype against what it computes, written out.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/program/catalogue.h"
#include "tests/contract/contract.h"
#include "tests/contract/elementwise_reference.h"

namespace gpucall::contract {
namespace {

using Op = ElementwiseOp;

constexpr int kOpCount = 0
#define GPUCALL_ELEMENTWISE(...) +1
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
    ;

// As NumPy's astype where that loses nothing, or only digits.
Number Converted(DType dtype, Number number) {
  if (dtype == DType::kBool) return number != Number{0};
  const bool real = KindOf(dtype) != DTypeKind::kComplex;
  const auto part = [&](long double value) -> long double {
    if (RealPartOf(dtype) == DType::kFloat32) return static_cast<float>(value);
    return RealPartOf(dtype) == DType::kFloat64 ? static_cast<double>(value) : value;
  };
  return {part(number.real()), real ? 0 : part(number.imag())};
}

// Which of an operation's operands are taken as they are.
Number Operand(Op op, const std::vector<Array>& inputs, DType computed_in, size_t which,
               int64_t i) {
  if (which >= inputs.size()) return 0;
  return Converted(IsCondition(op, which) ? DType::kBool : computed_in, inputs[which].number(i));
}

// Within the expectation's units of a number whose size decides them.
bool IsPartClose(DType dtype, long double got, long double wanted, long double size, double ulps) {
  if (got == wanted || (got != got && wanted != wanted)) return true;
  const long double unit = UnitInLastPlace(dtype, std::min(size, LargestOf(dtype)));
  // float16 and bfloat16 are rounded from float32.
  const long double tolerance = (ulps + (ElementSize(dtype) == 2 ? 1e-3L : 1e-6L)) * unit;
  if (std::isinf(got)) {
    return got * wanted > 0 && std::abs(wanted) >= LargestOf(dtype) + unit / 2 - tolerance;
  }
  return std::abs(got - wanted) <= tolerance;
}

bool IsClose(DType dtype, Number got, const Expectation& wanted) {
  const long double size = std::abs(wanted.value);
  return IsPartClose(dtype, got.real(), wanted.value.real(), size, wanted.ulps) &&
         IsPartClose(dtype, got.imag(), wanted.value.imag(), size, wanted.ulps);
}

void Check(Op op, const std::vector<Array>& inputs, const ElementwiseTypes& types,
           const Array& got) {
  ASSERT_EQ(got.type.dtype, types.result);
  for (int64_t i = 0; i < got.count(); ++i) {
    std::array<Number, 3> operands;
    for (size_t k = 0; k < 3; ++k) operands[k] = Operand(op, inputs, types.computed_in, k, i);
    const Expectation wanted = Expect(op, types.computed_in, operands);
    ASSERT_TRUE(IsClose(types.result, got.number(i), wanted))
        << "element " << i << " of " << operands[0] << ", " << operands[1] << ", " << operands[2]
        << ": got " << got.number(i) << ", wanted " << wanted.value;
    const bool zero = got.number(i).real() == 0 && IsFloating(types.result);
    if (zero && KindOf(types.computed_in) == DTypeKind::kFloat) {
      ASSERT_EQ(std::signbit(got.number(i).real()), std::signbit(wanted.value.real()))
          << "element " << i << " of " << operands[0] << ", " << operands[1];
    }
  }
}

// Inputs of one shape; integer exponents are not negative, and numbers beside complex ones small.
std::vector<Array> InputsFor(Op op, const std::vector<DType>& dtypes, DType computed_in,
                             const Shape& shape) {
  std::vector<Array> inputs;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const bool exponent = op == Op::kPower && i == 1;
    const bool small =
        KindOf(computed_in) == DTypeKind::kComplex && KindOf(dtypes[i]) != DTypeKind::kComplex;
    inputs.push_back(small || (exponent && !IsFloating(dtypes[i]))
                         ? UniformArray(dtypes[i], shape, small ? 1 : 0, 9, 7)
                         : MixedArray(dtypes[i], shape, static_cast<unsigned>(3 * i + 1)));
  }
  return inputs;
}

std::vector<DType> AllDTypes() {
  std::vector<DType> dtypes;
  for (int i = 1; i < kDTypeCount; ++i) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

std::string NameOf(const testing::TestParamInfo<Op>& info) {
  return std::string(RowOf(info.param).name);
}

// By operation; kCast has tests of its own.
class ElementwiseContract : public DeviceTest, public testing::WithParamInterface<Op> {
 protected:
  // Of a first operand of one dtype and others of another, where the operation takes them.
  void CheckDTypes(DType first, DType others, const std::vector<Shape>& shapes) {
    const Op op = GetParam();
    std::vector<DType> dtypes(static_cast<size_t>(RowOf(op).inputs), others);
    dtypes[0] = first;
    const auto types = InferElementwise(op, dtypes);
    if (!types.ok()) {
      EXPECT_EQ(types.status().code(), absl::StatusCode::kInvalidArgument);
      return;
    }
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(absl::StrCat(DTypeName(first), " ", DTypeName(others), ShapeString(shape)));
      const std::vector<Array> inputs = InputsFor(op, dtypes, types->computed_in, shape);
      const Array got = Run(op, inputs);
      ASSERT_EQ(got.type.shape, shape);
      Check(op, inputs, *types, got);
    }
  }
};

TEST_P(ElementwiseContract, ComputesItsFunctionInEveryDType) {
  for (DType dtype : AllDTypes()) {
    CheckDTypes(dtype, dtype, {Shape{}, {1}, {0}, {7, 0}, {17, 31}, {2500}, {1, 129, 3}});
  }
}

TEST_P(ElementwiseContract, ConvertsOperands) {
  const std::vector<DType> dtypes = AllDTypes();
  if (RowOf(GetParam()).inputs == 1) return;
  for (size_t i = 0; i < dtypes.size(); ++i) {  // each with another, by operation
    const size_t other = i + 1 + static_cast<size_t>(GetParam()) % (dtypes.size() - 1);
    CheckDTypes(dtypes[i], dtypes[other % dtypes.size()], {{333}});
  }
}

std::vector<Op> Operations() {
  std::vector<Op> operations;
  for (int i = 0; i < kOpCount; ++i) {
    if (static_cast<Op>(i) != Op::kCast) operations.push_back(static_cast<Op>(i));
  }
  return operations;
}
INSTANTIATE_TEST_SUITE_P(Every, ElementwiseContract, testing::ValuesIn(Operations()), NameOf);

// The nearest of what an integer dtype holds, towards zero; NaN is 0. Integers wrap.
Number IntegerCast(DType from, DType to, long double value) {
  const bool is_signed = KindOf(to) == DTypeKind::kSigned;
  const long double modulus = std::ldexp(1.0L, 8 * static_cast<int>(ElementSize(to)));
  const long double past = is_signed ? modulus / 2 : modulus;
  const long double least = is_signed ? -past : 0;
  if (KindOf(from) < DTypeKind::kFloat) {
    const long double rest = value - std::floor(value / modulus) * modulus;
    return rest >= past ? rest - modulus : rest;
  }
  if (value != value) return 0;
  return std::clamp(std::trunc(value), least, past - 1);
}

class CastContract : public DeviceTest, public testing::WithParamInterface<DType> {};

TEST_P(CastContract, GoesToEveryDType) {
  const DType from = GetParam();
  const Array in = MixedArray(from, {3, 337}, 5);
  for (DType to : AllDTypes()) {
    SCOPED_TRACE(DTypeName(to));
    const Array got = Run(CastAttributes{to}, {in});
    ASSERT_EQ(got.type, (TensorType{to, {3, 337}}));
    for (int64_t i = 0; i < got.count(); ++i) {
      const Number number = in.number(i);
      Expectation wanted = {number};
      if (to == DType::kBool) wanted.value = number != Number{0};
      if (IsInteger(to)) wanted.value = IntegerCast(from, to, number.real());
      if (IsFloating(to)) wanted.value = number.real();
      // 64-bit integers reach bfloat16 by way of float32, which rounds them too.
      if (to == DType::kBfloat16 && IsInteger(from)) wanted.ulps = 0.6;
      ASSERT_TRUE(IsClose(to, got.number(i), wanted))
          << number << " gave " << got.number(i) << ", wanted " << wanted.value;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Every, CastContract, testing::ValuesIn(AllDTypes()),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

TEST_F(DeviceTest, NegativeIntegerExponentsAreRefused) {
  const auto power = [&](Array exponents) {
    const Array bases = ArrayOf<int8_t>({3}, {2, 3, 4});
    return RunBatch({Call{ProgramOf(Op::kPower, 2), {bases, std::move(exponents)}}})[0].status();
  };
  for (const Array& exponents :
       {ArrayOf<int8_t>({3}, {1, -7, 2}), ArrayOf<int16_t>({3}, {1, -7, 2}),
        ArrayOf<int32_t>({3}, {1, -7, 2}), ArrayOf<int64_t>({3}, {1, -7, 2})}) {
    EXPECT_EQ(power(exponents).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(power(exponents).message()), testing::HasSubstr("got -7"));
  }
}

// Comparisons, casts and arithmetic in three dtypes, in one pass: as one by one.
TEST_F(DeviceTest, DTypesMixInAChain) {
  ProgramBuilder builder(3);
  const uint32_t below = builder.Add(Op::kLess, {0, 1});                    // bool
  const uint32_t half = builder.Add(CastAttributes{DType::kFloat16}, {2});  // float16
  const uint32_t scaled = builder.Add(Op::kMultiply, {half, half});         // float16
  const uint32_t chosen = builder.Add(Op::kWhere, {below, scaled, 0});      // float32
  const uint32_t bytes = builder.Add(CastAttributes{DType::kUint8}, {chosen});
  const uint32_t both = builder.Add(Op::kLogicalAnd, {below, bytes});
  const Array x = MixedArray(DType::kFloat32, {1000}, 1),
              y = MixedArray(DType::kFloat32, {1000}, 2);
  const Array n = MixedArray(DType::kInt64, {1000}, 3);
  const std::vector<Array> got =
      Run(Call{builder.Returning({scaled, chosen, bytes, both}), {x, y, n}});
  const Array b = Run(Op::kLess, {x, y}), h = Run(CastAttributes{DType::kFloat16}, {n});
  const Array s = Run(Op::kMultiply, {h, h}), c = Run(Op::kWhere, {b, s, x});
  const Array u = Run(CastAttributes{DType::kUint8}, {c});
  EXPECT_TRUE(SameElements(got[0], s));
  EXPECT_TRUE(SameElements(got[1], c));
  EXPECT_TRUE(SameElements(got[2], u));
  EXPECT_TRUE(SameElements(got[3], Run(Op::kLogicalAnd, {b, u})));
}

// No dtype holds both: float64 would take neighbours past 2^53 for equal.
TEST_F(DeviceTest, Int64IsComparedWithUint64Exactly) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min(), kHighest = ~kLowest;
  const std::vector<int64_t> s = {kLowest, -1, 0, 1, kHighest - 1, kHighest};
  const std::vector<uint64_t> u = {0, 1, kHighest - 1, kHighest, uint64_t{1} << 63, ~uint64_t{0}};
  const auto check = [&](Op op, Op mirrored, auto holds) {
    std::vector<bool> right;
    for (const int64_t a : s) {
      for (const uint64_t b : u) right.push_back(holds(a, b));
    }
    const Array column = ArrayOf<int64_t>({6, 1}, s), row = ArrayOf<uint64_t>({1, 6}, u);
    EXPECT_TRUE(SameElements(Run(op, {column, row}), ArrayOf<bool>({6, 6}, right)));
    EXPECT_TRUE(SameElements(Run(mirrored, {row, column}), ArrayOf<bool>({6, 6}, right)));
  };
  using std::cmp_equal, std::cmp_less, std::cmp_less_equal;
  check(Op::kEqual, Op::kEqual, [](auto a, auto b) { return cmp_equal(a, b); });
  check(Op::kNotEqual, Op::kNotEqual, [](auto a, auto b) { return !cmp_equal(a, b); });
  check(Op::kLess, Op::kGreater, [](auto a, auto b) { return cmp_less(a, b); });
  check(Op::kLessEqual, Op::kGreaterEqual, [](auto a, auto b) { return cmp_less_equal(a, b); });
  check(Op::kGreater, Op::kLess, [](auto a, auto b) { return !cmp_less_equal(a, b); });
  check(Op::kGreaterEqual, Op::kLessEqual, [](auto a, auto b) { return !cmp_less(a, b); });
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
  for (DType dtype : {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kComplex128}) {
    const std::vector<Array> inputs = {MixedArray(dtype, {1, 234567}, 1),
                                       MixedArray(dtype, {234567}, 2)};
    Check(Op::kMultiply, inputs, {dtype, dtype}, Run(Op::kMultiply, inputs));
  }
}

}  // namespace
}  // namespace gpucall::contract
