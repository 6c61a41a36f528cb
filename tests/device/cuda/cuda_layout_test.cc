#include "server/device/cuda_layout.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpucall {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMaxTensorBytes = int64_t{1} << 30;

// c = matmul(a, b); out = power(c, d): value 3 is an intermediate, value 4 the output.
Program MatMulThenPower() {
  Program program;
  program.input_count = 3;
  program.operations = {{MatMulAttributes{}, {0, 1}}, {ElementwiseOp::kPower, {3, 2}}};
  program.outputs = {4};
  return program;
}

Plan PlanFor(const Program& program, const std::vector<TensorType>& inputs) {
  absl::StatusOr<Plan> plan = MakePlan(program, inputs, kMaxTensorBytes);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

Plan PlanFor(int64_t m, int64_t n) {
  return PlanFor(MatMulThenPower(),
                 {{DType::kFloat32, {m, 4}}, {DType::kFloat32, {4, n}}, {DType::kFloat32, {n}}});
}

std::vector<Execution> Executions(const std::vector<const Plan*>& plans) {
  std::vector<Execution> executions(plans.size());
  for (size_t i = 0; i < plans.size(); ++i) executions[i].plan = plans[i];
  return executions;
}

TEST(BatchLayout, GroupsExecutionsByShape) {
  const Plan small = PlanFor(2, 3), large = PlanFor(20, 30), small_again = PlanFor(2, 3);
  const auto batch = Executions({&small, &large, &small_again, &large});
  const BatchLayout layout{absl::MakeConstSpan(batch)};
  ASSERT_EQ(layout.groups().size(), 2);
  EXPECT_THAT(layout.groups()[0].members, ElementsAre(0, 2));
  EXPECT_THAT(layout.groups()[1].members, ElementsAre(1, 3));
  EXPECT_EQ(layout.groups()[1].plan, &large);
}

TEST(BatchLayout, GivesEveryValueOfEveryExecutionItsOwnBytes) {
  const Plan small = PlanFor(2, 3), large = PlanFor(20, 30);
  const auto batch = Executions({&small, &large, &small});
  BatchLayout layout{absl::MakeConstSpan(batch)};
  const int64_t table = layout.ReserveTable(100);
  layout.RequireScratch(500);
  layout.RequireScratch(300);

  std::vector<std::pair<int64_t, int64_t>> used = {
      {table, table + 100}, {layout.scratch_offset(), layout.scratch_offset() + 500}};
  for (uint32_t value = 0; value < 5; ++value) {
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      const BatchLayout::Group& group = layout.groups()[g];
      const BatchLayout::Slots slots = layout.SlotsOf(value, g);
      EXPECT_EQ(slots.offset % 16, 0);
      EXPECT_EQ(slots.stride % 16, 0);
      for (size_t i = 0; i < group.members.size(); ++i) {
        const int64_t begin = slots.offset + static_cast<int64_t>(i) * slots.stride;
        used.emplace_back(begin, begin + group.plan->values[value].size_bytes());
      }
    }
  }
  std::sort(used.begin(), used.end());
  for (size_t i = 1; i < used.size(); ++i) EXPECT_LE(used[i - 1].second, used[i].first);
  EXPECT_LE(used.back().second, layout.total_bytes());
}

TEST(BatchLayout, PutsValuesIntoTheRegionThatCopiesThem) {
  const Plan plan = PlanFor(2, 3);
  const auto batch = Executions({&plan, &plan});
  const BatchLayout layout{absl::MakeConstSpan(batch)};
  for (const uint32_t input : {0, 1, 2}) {
    EXPECT_LE(layout.SlotsOf(input, 0).offset + 2 * layout.SlotsOf(input, 0).stride,
              layout.upload_bytes());
  }
  EXPECT_GE(layout.SlotsOf(3, 0).offset, layout.upload_bytes());
  EXPECT_LT(layout.SlotsOf(3, 0).offset, layout.download_offset());
  EXPECT_EQ(layout.SlotsOf(4, 0).offset, layout.download_offset());
  EXPECT_EQ(layout.total_bytes(), layout.download_offset() + layout.download_bytes());
  EXPECT_EQ(layout.fault_bytes(), 0);
}

TEST(BatchLayout, HasAFaultWordForEachExecutionThatMayFault) {
  Program program;
  program.input_count = 2;
  program.operations = {{ElementwiseOp::kPower, {0, 1}}};
  program.outputs = {2};
  const Plan plan = PlanFor(program, {{DType::kInt32, {5}}, {DType::kInt32, {5}}});
  const auto batch = Executions({&plan, &plan, &plan});
  const BatchLayout layout{absl::MakeConstSpan(batch)};
  EXPECT_EQ(layout.fault_bytes(), 12);
  EXPECT_EQ(layout.faults_offset() % 4, 0);
  EXPECT_EQ(layout.faults_offset() + 12, layout.total_bytes());
}

TEST(BatchLayout, HasAnIndexFaultForEachExecutionThatTakes) {
  Program program;
  program.input_count = 2;
  program.operations = {{TakeAttributes{.axis = 0}, {0, 1}}};
  program.outputs = {2};
  const Plan plan = PlanFor(program, {{DType::kUint8, {5}}, {DType::kInt32, {3}}});
  const auto batch = Executions({&plan, &plan, &plan});
  const BatchLayout layout{absl::MakeConstSpan(batch)};
  ASSERT_TRUE(layout.has_index_faults());
  EXPECT_GE(layout.index_faults_offset(), layout.faults_offset() + 12);
  EXPECT_EQ(layout.index_faults_offset() % 16, 0);
  EXPECT_EQ(layout.index_faults_offset() + 3 * 16, layout.total_bytes());
  EXPECT_EQ(layout.faults_offset() + layout.fault_bytes(), layout.total_bytes());
}

// Reshapes of an input and of a result lie where these do, and make an output of the result.
TEST(BatchLayout, ReshapesLieWhereTheirRootsDo) {
  Program program;
  program.input_count = 1;
  const RearrangeAttributes flat = {.kind = RearrangeKind::kReshape, .sizes = {-1}};
  program.operations = {
      {flat, {0}}, {ElementwiseOp::kAbs, {1}}, {flat, {2}}, {ElementwiseOp::kExp, {3}}};
  program.outputs = {3, 4};
  const Plan plan = PlanFor(program, {{DType::kFloat32, {4, 5}}});
  const auto batch = Executions({&plan, &plan});
  const BatchLayout layout{absl::MakeConstSpan(batch)};
  EXPECT_TRUE(layout.IsOnDevice(0));
  EXPECT_EQ(layout.SlotsOf(1, 0).offset, layout.SlotsOf(0, 0).offset);
  EXPECT_EQ(layout.SlotsOf(3, 0).offset, layout.SlotsOf(2, 0).offset);
  EXPECT_GE(layout.SlotsOf(2, 0).offset, layout.download_offset());
  EXPECT_EQ(layout.download_bytes(), 256 + 2 * 80);  // of two values, twice
}

TEST(BatchLayout, LeavesOutInputsThatNoStepReads) {
  Program program;
  program.input_count = 2;
  program.operations = {{ElementwiseOp::kAbs, {1}}};
  program.outputs = {0, 2};
  const Plan plan = PlanFor(program, {{DType::kFloat64, {1000}}, {DType::kFloat32, {4}}});
  const auto batch = Executions({&plan});
  const BatchLayout layout{absl::MakeConstSpan(batch)};
  EXPECT_FALSE(layout.IsOnDevice(0));
  EXPECT_TRUE(layout.IsOnDevice(1));
  EXPECT_EQ(layout.upload_bytes(), 16);
  EXPECT_EQ(layout.download_bytes(), 16);
}

}  // namespace
}  // namespace gpucall
