#include "server/program/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gpucall {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMaxTensorBytes = 1 << 20;

TensorType Float(Shape shape) { return {DType::kFloat32, std::move(shape)}; }

absl::StatusOr<Plan> PlanOf(std::vector<Operation> operations, std::vector<TensorType> inputs,
                            std::vector<uint32_t> outputs = {}) {
  Program program;
  program.input_count = static_cast<uint32_t>(inputs.size());
  if (outputs.empty()) outputs = {static_cast<uint32_t>(inputs.size() + operations.size() - 1)};
  program.operations = std::move(operations);
  program.outputs = std::move(outputs);
  return MakePlan(program, inputs, kMaxTensorBytes);
}

void ExpectError(const absl::StatusOr<Plan>& plan, absl::StatusCode code, const std::string& part) {
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), code) << plan.status();
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr(part));
}

TEST(PlanTest, ChainOfOneShapeIsOneStep) {
  auto plan = PlanOf({{ElementwiseOp::kMultiply, {0, 1}},
                      {ElementwiseOp::kExp, {2}},
                      {ElementwiseOp::kAdd, {3, 0}}},
                     {Float({4, 5}), Float({})});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->steps.size(), 1u);
  const auto& step = std::get<ElementwiseStep>(plan->steps[0]);
  EXPECT_THAT(step.inputs, ElementsAre(0u, 1u));
  EXPECT_THAT(step.broadcasts, ElementsAre(Broadcast::kFull, Broadcast::kScalar));
  ASSERT_EQ(step.outputs.size(), 1u);
  EXPECT_EQ(step.outputs[0].value, 4u);
  EXPECT_EQ(step.outputs[0].register_index, 4u);
}

TEST(PlanTest, MatMulSplitsElementwiseSteps) {
  auto plan = PlanOf(
      {{ElementwiseOp::kExp, {0}}, {MatMulAttributes{}, {1, 0}}, {ElementwiseOp::kAdd, {2, 1}}},
      {Float({3, 3})});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->steps.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<MatMulStep>(plan->steps[1]));
  // Value 1 is read by later steps, so the first step must keep it.
  EXPECT_EQ(std::get<ElementwiseStep>(plan->steps[0]).outputs[0].value, 1u);
}

TEST(PlanTest, OperationsNoOutputNeedsAreLeftOut) {
  auto plan = PlanOf({{ElementwiseOp::kExp, {0}}, {ElementwiseOp::kAbs, {0}}}, {Float({3})}, {2});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(std::get<ElementwiseStep>(plan->steps[0]).instructions.size(), 1u);
}

TEST(PlanTest, LongChainIsCutAtTheStepLimit) {
  std::vector<Operation> operations;
  for (uint32_t i = 0; i < 200; ++i) operations.push_back({ElementwiseOp::kAbs, {i}});
  auto plan = PlanOf(std::move(operations), {Float({3})});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->steps.size(), 4u);
}

TEST(PlanTest, IdentityProgramTakesAnyDType) {
  auto plan = PlanOf({}, {{DType::kInt16, {2, 3}}}, {0});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->steps.empty());
  EXPECT_EQ(plan->output_bytes, 12);
}

TEST(PlanTest, SignatureIgnoresShapesAndNothingElse) {
  const auto signature = [](Operation operation, Shape a, Shape b) {
    return PlanOf({std::move(operation)}, {Float(std::move(a)), Float(std::move(b))})->signature;
  };
  const Operation add{ElementwiseOp::kAdd, {0, 1}};
  EXPECT_EQ(signature(add, {3}, {3}), signature(add, {7, 2}, {7, 2}));
  EXPECT_NE(signature(add, {3}, {3}), signature(add, {3}, {}));
  EXPECT_NE(signature(add, {3}, {3}), signature({ElementwiseOp::kAdd, {1, 0}}, {3}, {3}));
  EXPECT_NE(signature(add, {3}, {3}), signature({ElementwiseOp::kSubtract, {0, 1}}, {3}, {3}));
}

// A batch runs its images of one shape by one plan: sizes and weights must be the same.
TEST(PlanTest, SignatureOfImagesHasTheirAttributes) {
  const auto signature = [](const ImageAttributes& attributes, Shape shape) {
    return PlanOf({{attributes, {0}}}, {Float(std::move(shape))})->signature;
  };
  ImageAttributes size;
  size.kind = ImageKind::kResize;
  size.rows = size.columns = 4;
  ImageAttributes wider = size, area = size;
  wider.columns = 5;
  area.interpolation = Interpolation::kArea;
  EXPECT_EQ(signature(size, {3, 9}), signature(size, {7, 2}));
  EXPECT_NE(signature(size, {3, 9}), signature(wider, {3, 9}));
  EXPECT_NE(signature(size, {3, 9}), signature(area, {3, 9}));
  ImageAttributes sharper;
  sharper.kind = ImageKind::kUnsharpMask;
  sharper.sigma = 1;
  ImageAttributes softer = sharper;
  softer.sigma = 1.0000001;  // as many weights
  EXPECT_EQ(signature(sharper, {3, 9, 2}), signature(sharper, {1, 1, 3}));
  EXPECT_NE(signature(sharper, {3, 9}), signature(softer, {3, 9}));
  ImageAttributes mean;
  mean.kind = ImageKind::kNormalise;
  mean.mean = {1, 2};
  mean.deviation = {1, 1};
  ImageAttributes other = mean;
  other.mean = {1, 3};
  EXPECT_NE(signature(mean, {3, 9, 2}), signature(other, {3, 9, 2}));
}

TEST(PlanTest, ASignalAndItsStatesAreOneStep) {
  const SignalAttributes signal = {.b = {1}, .a = {1, -0.5}};
  SignalAttributes states = signal;
  states.final_state = true;
  const TensorType zi = {DType::kFloat64, {3, 1}};
  auto plan = PlanOf({{signal, {0, 1}}, {states, {0, 1}}}, {Float({3, 9}), zi}, {2, 3});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->steps.size(), 1u);
  const auto& step = std::get<SignalStep>(plan->steps[0]);
  EXPECT_EQ(step.output, 2u);
  EXPECT_EQ(step.states, 3u);
  states.a = {1, 0.5};
  plan = PlanOf({{signal, {0, 1}}, {states, {0, 1}}}, {Float({3, 9}), zi}, {2, 3});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->steps.size(), 2u);
}

TEST(PlanTest, PromotesAsNumPy) {
  const auto result = [](DType a, DType b, ElementwiseOp op) {
    return PlanOf({{op, {0, 1}}}, {{a, {2}}, {b, {2}}})->values.back().dtype;
  };
  EXPECT_EQ(result(DType::kInt32, DType::kFloat32, ElementwiseOp::kAdd), DType::kFloat64);
  EXPECT_EQ(result(DType::kUint8, DType::kFloat32, ElementwiseOp::kAdd), DType::kFloat32);
  EXPECT_EQ(result(DType::kBool, DType::kUint8, ElementwiseOp::kAdd), DType::kUint8);
  EXPECT_EQ(result(DType::kUint8, DType::kInt32, ElementwiseOp::kDivide), DType::kFloat64);
  EXPECT_EQ(result(DType::kInt8, DType::kUint8, ElementwiseOp::kAdd), DType::kInt16);
  EXPECT_EQ(result(DType::kInt32, DType::kUint32, ElementwiseOp::kAdd), DType::kInt64);
  EXPECT_EQ(result(DType::kUint64, DType::kInt8, ElementwiseOp::kAdd), DType::kFloat64);
  EXPECT_EQ(result(DType::kFloat16, DType::kInt16, ElementwiseOp::kAdd), DType::kFloat32);
  EXPECT_EQ(result(DType::kFloat16, DType::kBfloat16, ElementwiseOp::kAdd), DType::kFloat32);
  EXPECT_EQ(result(DType::kBfloat16, DType::kUint8, ElementwiseOp::kAdd), DType::kBfloat16);
  EXPECT_EQ(result(DType::kComplex64, DType::kInt32, ElementwiseOp::kAdd), DType::kComplex128);
  EXPECT_EQ(result(DType::kBool, DType::kBool, ElementwiseOp::kPower), DType::kInt8);
  EXPECT_EQ(result(DType::kInt8, DType::kUint8, ElementwiseOp::kHypot), DType::kFloat16);
  EXPECT_EQ(result(DType::kInt64, DType::kFloat32, ElementwiseOp::kLess), DType::kBool);
}

TEST(PlanTest, ResultsOfOneOperandAreNumPys) {
  const auto result = [](ElementwiseOp op, DType dtype) {
    return PlanOf({{op, {0}}}, {{dtype, {2}}})->values.back().dtype;
  };
  EXPECT_EQ(result(ElementwiseOp::kExp, DType::kBool), DType::kFloat16);
  EXPECT_EQ(result(ElementwiseOp::kSqrt, DType::kUint16), DType::kFloat32);
  EXPECT_EQ(result(ElementwiseOp::kAbs, DType::kComplex64), DType::kFloat32);
  EXPECT_EQ(result(ElementwiseOp::kImag, DType::kComplex128), DType::kFloat64);
  EXPECT_EQ(result(ElementwiseOp::kFloor, DType::kInt64), DType::kInt64);
  EXPECT_EQ(result(ElementwiseOp::kLogicalNot, DType::kComplex64), DType::kBool);
  EXPECT_EQ(PlanOf({{CastAttributes{DType::kInt8}, {0}}}, {Float({2})})->values.back().dtype,
            DType::kInt8);
}

TEST(PlanTest, BadReferencesAreNamed) {
  ExpectError(PlanOf({{ElementwiseOp::kAbs, {1}}}, {Float({3})}),
              absl::StatusCode::kInvalidArgument, "value 1");
  ExpectError(PlanOf({{ElementwiseOp::kAbs, {0}}}, {Float({3})}, {9}),
              absl::StatusCode::kInvalidArgument, "value 9");
  ExpectError(PlanOf({{ElementwiseOp::kAdd, {0}}}, {Float({3})}),
              absl::StatusCode::kInvalidArgument, "got 1 inputs, needs 2");
}

TEST(PlanTest, LimitsAreStated) {
  std::vector<Operation> operations(kMaxOperations + 1, {ElementwiseOp::kAbs, {0}});
  ExpectError(PlanOf(operations, {Float({3})}), absl::StatusCode::kInvalidArgument, "4096");
  operations.pop_back();
  EXPECT_TRUE(PlanOf(operations, {Float({3})}).ok());
  ExpectError(PlanOf({{ElementwiseOp::kAdd, {0, 1}}}, {Float({2000, 1}), Float({1, 2000})}),
              absl::StatusCode::kResourceExhausted, "16000000 bytes");
}

TEST(PlanTest, BadDTypes) {
  ExpectError(PlanOf({{ElementwiseOp::kNegative, {0}}}, {{DType::kBool, {3}}}),
              absl::StatusCode::kInvalidArgument, "bool");
  ExpectError(PlanOf({{ElementwiseOp::kFloor, {0}}}, {{DType::kComplex64, {3}}}),
              absl::StatusCode::kInvalidArgument, "floor: dtype complex64");
  ExpectError(PlanOf({{ElementwiseOp::kLeftShift, {0, 1}}}, {Float({3}), {DType::kInt8, {3}}}),
              absl::StatusCode::kInvalidArgument, "dtypes float32, int8 (together float32)");
  ExpectError(PlanOf({{CastAttributes{}, {0}}}, {Float({3})}), absl::StatusCode::kInvalidArgument,
              "output_dtype");
}

TEST(PlanTest, MatMulShapes) {
  const auto shape = [](Shape a, Shape b, MatMulAttributes attributes = {}) {
    return PlanOf({{attributes, {0, 1}}}, {Float(std::move(a)), Float(std::move(b))});
  };
  EXPECT_EQ(shape({2, 1, 3, 4}, {5, 4, 6})->values.back().shape, (Shape{2, 5, 3, 6}));
  EXPECT_EQ(shape({4, 3}, {2, 4}, {true, true})->values.back().shape, (Shape{3, 2}));
  ExpectError(shape({2, 3}, {4, 2}), absl::StatusCode::kInvalidArgument,
              "3 of a (2, 3) against 4 of b");
  ExpectError(shape({2, 3, 4}, {3, 4, 5}), absl::StatusCode::kInvalidArgument, "batch");
  ExpectError(shape({}, {2, 2}), absl::StatusCode::kInvalidArgument, "rank 0");
}

FilterAttributes Filter(FilterKind kind) {
  FilterAttributes attributes;
  attributes.kind = kind;
  return attributes;
}

TEST(PlanTest, FilterArguments) {
  const auto plan = [](const FilterAttributes& attributes) {
    return PlanOf({{attributes, {0}}}, {Float({5, 5})});
  };
  FilterAttributes gaussian = Filter(FilterKind::kGaussian);
  for (double sigma : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e9}) {
    gaussian.sigma = {1, sigma};
    ExpectError(plan(gaussian), absl::StatusCode::kInvalidArgument, "sigma");
  }
  FilterAttributes box = Filter(FilterKind::kBox);
  for (int64_t size : {int64_t{0}, int64_t{-3}, int64_t{2147483647}}) {
    box.size = {3, size};
    ExpectError(plan(box), absl::StatusCode::kInvalidArgument, "size of the columns");
  }
  box.size = {3, 4};
  box.origin = {0, 2};
  ExpectError(plan(box), absl::StatusCode::kInvalidArgument, "origin of the columns is 2");
  box.origin = {0, -2};
  EXPECT_EQ(std::get<FilterStep>(plan(box)->steps[0]).before, (std::array<int64_t, 2>{1, 0}));
}

TEST(PlanTest, ConvolutionWindowIsScipys) {
  FilterAttributes convolve = Filter(FilterKind::kConvolve);
  auto plan = PlanOf({{convolve, {0, 1}}}, {Float({5, 5}), Float({4, 3})});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto& step = std::get<FilterStep>(plan->steps[0]);
  EXPECT_TRUE(step.flip);
  EXPECT_EQ(step.before,
            (std::array<int64_t, 2>{1, 1}));  // even sizes lean the other way than correlation
}

TEST(PlanTest, FilterOutputDTypes) {
  const auto dtype = [](FilterKind kind) {
    return PlanOf({{Filter(kind), {0}}}, {{DType::kUint8, {5, 5}}})->values.back().dtype;
  };
  EXPECT_EQ(dtype(FilterKind::kGaussian), DType::kUint8);
  EXPECT_EQ(dtype(FilterKind::kSobel), DType::kFloat32);
  EXPECT_EQ(dtype(FilterKind::kLaplacian), DType::kFloat32);
}

TEST(PlanTest, FillValueMustFitTheImage) {
  FilterAttributes box = Filter(FilterKind::kBox);
  box.mode = BorderMode::kConstant;
  box.cval = 300;
  ExpectError(PlanOf({{box, {0}}}, {{DType::kUint8, {3, 3}}}), absl::StatusCode::kInvalidArgument,
              "cval is 300");
  EXPECT_TRUE(PlanOf({{box, {0}}}, {Float({3, 3})}).ok());
}

}  // namespace
}  // namespace gpucall
