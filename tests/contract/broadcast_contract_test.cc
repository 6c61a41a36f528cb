// Broadcasting and fusion: one pass gives what operations one by one on full arrays give.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

using Op = ElementwiseOp;

// `array` repeated to `shape`.
Array Broadcasted(const Array& array, const Shape& shape) {
  Array result = {{array.type.dtype, shape}, {}};
  const size_t size = ElementSize(array.type.dtype);
  const Shape& from = array.type.shape;
  for (int64_t i = 0; i < result.count(); ++i) {
    int64_t rest = i, offset = 0, stride = 1;
    for (size_t d = 0; d < shape.size(); ++d) {  // from the innermost dimension
      const int64_t place = rest % shape[shape.size() - 1 - d];
      rest /= shape[shape.size() - 1 - d];
      if (d >= from.size()) continue;
      const int64_t own = from[from.size() - 1 - d];
      if (own != 1) offset += place * stride;
      stride *= own;
    }
    const auto begin = array.bytes.begin() + static_cast<int64_t>(size) * offset;
    result.bytes.insert(result.bytes.end(), begin, begin + static_cast<int64_t>(size));
  }
  return result;
}

struct ShapePair {
  Shape a, b, result;
};

class BroadcastContract : public DeviceTest, public testing::WithParamInterface<ShapePair> {};

TEST_P(BroadcastContract, EqualsRepeatedArrays) {
  const auto& [shape_a, shape_b, shape] = GetParam();
  for (DType dtype : {DType::kUint8, DType::kInt32, DType::kFloat64}) {
    const Array a = MixedArray(dtype, shape_a, 1), b = MixedArray(DType::kInt32, shape_b, 2);
    const Array got = Run(Op::kSubtract, {a, b});
    ASSERT_EQ(got.type.shape, shape);
    EXPECT_TRUE(
        SameElements(got, Run(Op::kSubtract, {Broadcasted(a, shape), Broadcasted(b, shape)})));
    EXPECT_TRUE(SameElements(Run(Op::kSubtract, {b, a}),
                             Run(Op::kSubtract, {Broadcasted(b, shape), Broadcasted(a, shape)})));
  }
}

const ShapePair kShapes[] = {
    {{}, {}, {}},
    {{}, {1000}, {1000}},
    {{1, 1, 1}, {7}, {1, 1, 7}},
    {{3}, {65, 43, 3}, {65, 43, 3}},          // a bias for each channel
    {{65, 43, 1}, {3}, {65, 43, 3}},          // a mask, and a bias
    {{65, 43, 1}, {65, 43, 3}, {65, 43, 3}},  // a mask
    {{257, 1}, {1, 259}, {257, 259}},         // outer
    {{5, 1, 6, 1}, {4, 1, 7}, {5, 4, 6, 7}},
    {{1, 3, 1, 5, 1, 2, 1, 3}, {2, 1, 4, 1, 3, 1, 2, 1}, {2, 3, 4, 5, 3, 2, 2, 3}},
    {{300, 1, 1}, {300, 20, 3}, {300, 20, 3}},
    {{20, 3}, {300, 20, 3}, {300, 20, 3}},
    {{0, 1}, {1, 4}, {0, 4}},
    {{3, 1}, {3, 0}, {3, 0}},
    {{}, {0}, {0}},
    {{1}, {1, 0, 3}, {1, 0, 3}},
    {{70000, 1}, {1, 5}, {70000, 5}},
};
INSTANTIATE_TEST_SUITE_P(All, BroadcastContract, testing::ValuesIn(kShapes), [](const auto& info) {
  const auto name = [](const Shape& shape) {
    return shape.empty() ? "scalar" : absl::StrJoin(shape, "x");
  };
  return absl::StrCat(name(info.param.a), "_and_", name(info.param.b));
});

// Runs a Program's operations one by one.
std::vector<Array> RunOneByOne(DeviceTest& test, const Call& call) {
  std::vector<Array> values = call.inputs;
  for (const Operation& operation : call.program.operations) {
    std::vector<Array> inputs;
    for (uint32_t value : operation.inputs) inputs.push_back(values[value]);
    values.push_back(test.Run(operation.attributes, inputs));
  }
  std::vector<Array> outputs;
  for (uint32_t value : call.program.outputs) outputs.push_back(values[value]);
  return outputs;
}

void ExpectFusedEqualsOneByOne(DeviceTest& test, const Call& call) {
  const std::vector<Array> fused = test.Run(call), wanted = RunOneByOne(test, call);
  ASSERT_EQ(fused.size(), wanted.size());
  for (size_t i = 0; i < fused.size(); ++i) EXPECT_TRUE(SameElements(fused[i], wanted[i])) << i;
}

TEST_F(DeviceTest, ChainOfFloatsIsBitEqualToItsOperations) {
  ProgramBuilder builder(3);
  const uint32_t product = builder.Add(Op::kMultiply, {0, 1});
  const uint32_t sum = builder.Add(Op::kAdd, {product, 2});  // never contracted
  const uint32_t squashed = builder.Add(Op::kTanh, {sum});
  const uint32_t clipped = builder.Add(Op::kClip, {squashed, 2, 0});
  const Program program = builder.Returning({clipped, sum});
  for (int64_t count : {1, 77, 10001}) {
    ExpectFusedEqualsOneByOne(
        *this, {program,
                {MixedArray(DType::kFloat32, {count}, 1), MixedArray(DType::kFloat32, {count}, 2),
                 MixedArray(DType::kFloat32, {}, 3)}});
  }
}

TEST_F(DeviceTest, ChainOfMixedDTypesIsBitEqualToItsOperations) {
  ProgramBuilder builder(4);  // uint8 image, int32 row, bool mask, float32 scalar
  const uint32_t shifted = builder.Add(Op::kSubtract, {0, 1});           // int32
  const uint32_t scaled = builder.Add(Op::kMultiply, {shifted, 3});      // float64
  const uint32_t chosen = builder.Add(Op::kWhere, {2, scaled, 0});       // float64
  const uint32_t again = builder.Add(Op::kWhere, {shifted, 0, 2});       // uint8
  const uint32_t exponent = builder.Add(Op::kPower, {again, 2});         // uint8
  const uint32_t half = builder.Add(Op::kDivide, {exponent, exponent});  // float64
  const uint32_t total = builder.Add(Op::kMultiplyAdd, {half, chosen, 3});
  ExpectFusedEqualsOneByOne(
      *this, {builder.Returning({total, shifted, total, 0, exponent}),
              {MixedArray(DType::kUint8, {40, 50, 3}, 1), MixedArray(DType::kInt32, {50, 1}, 2),
               MixedArray(DType::kBool, {40, 1, 1}, 3), ArrayOf<float>({}, {0.1f})}});
}

TEST_F(DeviceTest, LongChainsAreBitEqualToTheirOperations) {
  constexpr Op kOps[] = {Op::kAdd, Op::kMultiply, Op::kMinimum, Op::kSubtract};
  ProgramBuilder builder(3);
  uint32_t before = 0, last = 1;
  std::vector<uint32_t> outputs;
  for (int k = 0; k < 200; ++k) {
    const uint32_t next = k % 5 == 4 ? builder.Add(Op::kMultiply, {last, 2})
                                     : builder.Add(kOps[k % 4], {last, before});
    before = last;
    last = next;
    if (k % 37 == 0) outputs.push_back(last);
  }
  outputs.push_back(last);
  ExpectFusedEqualsOneByOne(
      *this, {builder.Returning(outputs),
              {UniformArray(DType::kFloat32, {3000}, -1, 1, 1),
               UniformArray(DType::kInt32, {3000}, -3, 3, 2), ArrayOf<float>({}, {0.25f})}});
}

}  // namespace
}  // namespace gpucall::contract
