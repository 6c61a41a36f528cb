// Which outputs go straight to their targets, and what is used where it is: no GPU is needed to
// say.
#include "server/device/cuda_targets.h"

#include <memory>

#include "gtest/gtest.h"
#include "server/device/cuda_mapped_batch.h"

namespace gpucall {
namespace {

class HostBuffer final : public DeviceBuffer {
 public:
  HostBuffer(std::byte* data, int64_t size_bytes) : DeviceBuffer(data, size_bytes) {}
};

constexpr int64_t kRows = 200, kColumns = 300, kBytes = kRows * kColumns * 4;

RearrangeAttributes Flat() { return {.kind = RearrangeKind::kReshape, .sizes = {-1}}; }

// One execution with page-locked memory for each input and target.
class CudaTargets : public testing::Test {
 protected:
  void Make(std::vector<Operation> operations, std::vector<uint32_t> outputs) {
    Program program = {.input_count = 1, .operations = std::move(operations), .outputs = outputs};
    plan_ = *MakePlan(program, std::vector<TensorType>{{DType::kFloat32, {kRows, kColumns}}},
                      int64_t{1} << 30);
    HostBytes input;
    input.Add({Memory(), kBytes, std::make_shared<int>(), true});
    inputs_ = {{.host = std::move(input)}};
    targets_.clear();
    for (size_t i = 0; i < outputs.size(); ++i) {
      targets_.push_back({Memory(), std::make_shared<int>(), true});
    }
    execution_ = {};
    execution_.plan = &plan_;
    execution_.inputs = inputs_;
    execution_.targets = targets_;
    execution_.outputs.resize(outputs.size());
  }

  std::byte* Memory() {
    memory_.push_back(std::make_unique<Bytes>());
    return memory_.back()->data;
  }

  std::vector<bool> Direct() {
    const BatchLayout layout(absl::MakeConstSpan(&execution_, 1));
    std::vector<bool> direct;
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      direct.push_back(IsDirect(execution_, i, 0, layout));
    }
    return direct;
  }

  struct alignas(64) Bytes {
    std::byte data[kBytes];
  };
  std::vector<std::unique_ptr<Bytes>> memory_;
  Plan plan_;
  std::vector<Storage> inputs_;
  std::vector<HostTarget> targets_;
  Execution execution_;
};

using Marks = std::vector<bool>;

FilterAttributes Box() {
  FilterAttributes box;
  box.kind = FilterKind::kBox;
  box.size = {3, 3};
  return box;
}

TEST_F(CudaTargets, AResultGoesStraightToTheOneTargetThatItHas) {
  Make({{Box(), {0}}, {Flat(), {1}}, {Flat(), {0}}}, {1});
  EXPECT_EQ(Direct(), Marks({true}));
  Make({{Box(), {0}}, {Flat(), {1}}, {Flat(), {0}}}, {2});
  EXPECT_EQ(Direct(), Marks({true}));
  Make({{Box(), {0}}, {Flat(), {1}}, {Flat(), {0}}}, {1, 2});  // one value, two targets
  EXPECT_EQ(Direct(), Marks({false, false}));
  Make({{Box(), {0}}, {Flat(), {1}}, {Flat(), {0}}}, {3, 0, 2});  // of the input
  EXPECT_EQ(Direct(), Marks({false, false, true}));
}

TEST_F(CudaTargets, NotWhereAReshapeOfItIsKept) {
  Make({{Box(), {0}}, {Flat(), {1}}}, {2, 1});
  const bool keep[] = {true, false};
  execution_.keep_outputs = keep;
  execution_.targets = {};
  targets_[0] = {};
  execution_.targets = targets_;
  execution_.outputs[0].resident = std::make_shared<HostBuffer>(Memory(), kBytes);
  EXPECT_EQ(Direct(), Marks({false, false}));
}

TEST_F(CudaTargets, OffsetsAreOfWhatIsReshaped) {
  Make({{Box(), {0}}, {Flat(), {1}}}, {2});
  const BatchLayout layout(absl::MakeConstSpan(&execution_, 1));
  const std::vector<Staging::Target> targets =
      DirectTargets(absl::MakeConstSpan(&execution_, 1), layout);
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].offset, layout.SlotsOf(1, 0).offset - layout.download_offset());
  EXPECT_EQ(targets[0].size_bytes, kBytes);
  EXPECT_EQ(targets[0].data, targets_[0].data);
}

TEST_F(CudaTargets, ReshapesAreMappedAsWhatTheyAreOf) {
  Make({{Flat(), {0}}, {ElementwiseOp::kNegative, {1}}, {Flat(), {2}}}, {3});
  MappedBatch mapped(absl::MakeSpan(&execution_, 1));
  const Execution& execution = mapped.executions()[0];
  ASSERT_NE(execution.inputs[0].resident, nullptr);
  EXPECT_EQ(execution.inputs[0].resident->data(), inputs_[0].host.data());
  ASSERT_TRUE(execution.keeps(0));
  EXPECT_EQ(execution.outputs[0].resident->data(), targets_[0].data);
  mapped.Deliver();
  EXPECT_EQ(execution_.outputs[0].resident, nullptr);
  EXPECT_EQ(execution_.outputs[0].host.data(), targets_[0].data);
}

TEST_F(CudaTargets, WhatIsUsedTwiceIsNotMapped) {
  // The input as it is and reshaped; the result as it is and reshaped.
  Make({{Flat(), {0}}, {ElementwiseOp::kNegative, {1}}, {ElementwiseOp::kAbs, {0}}, {Flat(), {2}}},
       {2, 4, 3});
  MappedBatch mapped(absl::MakeSpan(&execution_, 1));
  const Execution& execution = mapped.executions()[0];
  EXPECT_EQ(execution.inputs[0].resident, nullptr);
  EXPECT_FALSE(execution.keeps(0));
  EXPECT_FALSE(execution.keeps(1));
  EXPECT_TRUE(execution.keeps(2));
}

TEST_F(CudaTargets, WhatAStepReadsReshapedIsNotWrittenToATarget) {
  Make({{ElementwiseOp::kNegative, {0}}, {Flat(), {1}}, {ElementwiseOp::kExp, {2}}}, {1, 3});
  MappedBatch mapped(absl::MakeSpan(&execution_, 1));
  const Execution& execution = mapped.executions()[0];
  EXPECT_FALSE(execution.keeps(0));
  EXPECT_TRUE(execution.keeps(1));
}

}  // namespace
}  // namespace gpucall
