// Made arrays have the bits that kernels/creation_functions.h gives on this processor.
#include "kernels/creation_functions.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

CreationAttributes Made(CreationKind kind, DType dtype, const Shape& shape) {
  CreationAttributes attributes = {.kind = kind, .dtype = dtype, .shape = shape};
  attributes.first = kind == CreationKind::kArange ? -3.7 : 0.25;
  attributes.step = kind == CreationKind::kArange ? 0.1 : 2;
  attributes.integer_first = 3;
  attributes.integer_step = -7;
  attributes.range = 100;
  attributes.seed = 0x123456789abcdef;
  return attributes;
}

creation::Recipe RecipeOf(const CreationAttributes& attributes) {
  creation::Recipe recipe = {};
  recipe.first = attributes.first;
  recipe.step = attributes.step;
  recipe.integer_first = attributes.integer_first;
  recipe.integer_step = attributes.integer_step;
  recipe.range = attributes.range;
  recipe.seed = attributes.seed;
  switch (attributes.kind) {
    case CreationKind::kRandomUniform:
      recipe.kind = creation::Kind::kUniform;
      recipe.bits = attributes.dtype == DType::kFloat32 ? 24 : 53;
      recipe.step = attributes.step - attributes.first;
      break;
    case CreationKind::kRandomNormal:
      recipe.kind = creation::Kind::kNormal;
      break;
    case CreationKind::kRandomIntegers:
      recipe.kind = creation::Kind::kIntegers;
      break;
    default:
      recipe.kind = creation::Kind::kArange;
      break;
  }
  return recipe;
}

template <class T>
Array Wanted(const CreationAttributes& attributes) {
  creation::Recipe recipe = RecipeOf(attributes);
  if constexpr (std::is_floating_point_v<T>) {
    if (attributes.kind == CreationKind::kArange) {
      recipe.first = static_cast<T>(attributes.first);
      recipe.second = static_cast<T>(attributes.first + attributes.step);
      recipe.step = static_cast<T>(recipe.second) - static_cast<T>(recipe.first);
    }
  }
  std::vector<T> elements;
  for (int64_t i = 0; i < ElementCount(attributes.shape); ++i) {
    elements.push_back(creation::ElementAt<T>(recipe, static_cast<uint64_t>(i)));
  }
  return ArrayOf<T>(attributes.shape, elements);
}

template <class T>
class CreationContract : public DeviceTest {
 public:
  static std::vector<CreationKind> Kinds() {
    if (std::is_integral_v<T>) return {CreationKind::kArange, CreationKind::kRandomIntegers};
    return {CreationKind::kArange, CreationKind::kRandomUniform, CreationKind::kRandomNormal};
  }
};
using Types = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t,
                             int64_t, float, double>;
TYPED_TEST_SUITE(CreationContract, Types);

TYPED_TEST(CreationContract, HasTheBitsOfTheFunctions) {
  using T = TypeParam;
  for (const CreationKind kind : this->Kinds()) {
    for (const int64_t count : {0, 1, 2, 3, 255, 2047, 2048, 2049, 100'003}) {
      const CreationAttributes attributes = Made(kind, DTypeOf<T>(), {count});
      const Array got = this->Run(attributes, {});
      EXPECT_EQ(got.type.shape, Shape{count});
      EXPECT_EQ(got.bytes, Wanted<T>(attributes).bytes) << static_cast<int>(kind) << " " << count;
    }
  }
}

TYPED_TEST(CreationContract, TakesPartInProgramsAndBatches) {
  using T = TypeParam;
  const DType dtype = DTypeOf<T>();
  for (const CreationKind kind : this->Kinds()) {
    std::vector<Call> calls;
    for (const Shape& shape : {Shape{50}, Shape{7}, Shape{50}, Shape{1}}) {
      ProgramBuilder program(1);
      const uint32_t made = program.Add(Made(kind, dtype, {50}), {});
      const uint32_t sum = program.Add(ElementwiseOp::kMaximum, {made, 0});
      calls.push_back({program.Returning({sum, made}), {UniformArray(dtype, {1}, 0, 9, 1)}});
      calls.push_back({ProgramOf(Made(kind, dtype, shape), 0), {}});
    }
    std::vector<Call> alike, alone;
    for (size_t i = 0; i < calls.size(); ++i) (i % 2 == 0 ? alike : alone).push_back(calls[i]);
    const auto batched = this->RunBatch(alike);
    for (size_t i = 0; i < alike.size(); ++i) {
      ASSERT_TRUE(batched[i].ok()) << batched[i].status();
      EXPECT_EQ((*batched[i])[1].bytes, Wanted<T>(Made(kind, dtype, {50})).bytes);
      EXPECT_EQ((*batched[i])[0].bytes, this->Run(alike[i])[0].bytes);
    }
    for (const Call& call : alone) {
      const Array got = this->Run(call)[0];
      EXPECT_EQ(got.bytes, Wanted<T>(Made(kind, dtype, got.type.shape)).bytes);
    }
  }
}

class FullContract : public DeviceTest, public testing::WithParamInterface<DType> {};

TEST_P(FullContract, IsTheValueEverywhere) {
  const size_t size = ElementSize(GetParam());
  for (const Shape& shape :
       {Shape{}, Shape{0}, Shape{3, 0}, Shape{1}, Shape{5, 7}, Shape{70'001}}) {
    CreationAttributes attributes = Made(CreationKind::kFull, GetParam(), shape);
    for (size_t i = 0; i < size; ++i) attributes.value.push_back(static_cast<char>(1 + 3 * i));
    const Array got = Run(attributes, {});
    EXPECT_EQ(got.type.shape, shape);
    for (size_t i = 0; i < got.bytes.size(); ++i) {
      ASSERT_EQ(static_cast<char>(got.bytes[i]), attributes.value[i % size]) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FullContract,
                         testing::Values(DType::kBool, DType::kInt16, DType::kFloat32,
                                         DType::kUint64, DType::kComplex128),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

}  // namespace
}  // namespace gpucall::contract
