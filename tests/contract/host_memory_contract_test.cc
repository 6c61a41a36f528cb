// What server/device/device.h says of locked host memory and of targets of outputs.
#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

// Locked memory from which arrays take places one after the other.
class HostMemoryContract : public DeviceTest {
 protected:
  static constexpr int64_t kBytes = int64_t{64} << 20;

  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    auto lock = device().LockHostMemory(memory_, kBytes);
    ASSERT_TRUE(lock.ok()) << lock.status();
    lock_ = *std::move(lock);
    lane_ = *device().MakeLane();
  }
  void TearDown() override {
    lane_.reset();
    lock_.reset();
    if (memory_ != nullptr) munmap(memory_, kBytes);
  }

  // At `misalignment` past a multiple of 64.
  std::byte* Place(int64_t size_bytes, int64_t misalignment = 0) {
    std::byte* const place = memory_ + used_ + misalignment;
    used_ += (misalignment + size_bytes + 63) / 64 * 64;
    EXPECT_LE(used_, kBytes);
    return place;
  }
  Storage Placed(const Array& array, int64_t misalignment = 0) {
    const int64_t size_bytes = array.type.size_bytes();
    std::byte* const place = Place(size_bytes, misalignment);
    std::memcpy(place, array.bytes.data(), static_cast<size_t>(size_bytes));
    HostBytes bytes;
    bytes.Add({place, size_bytes, std::make_shared<int>(), lock_ != nullptr});
    return {.host = std::move(bytes)};
  }
  HostTarget Target(int64_t size_bytes) {
    return {Place(size_bytes), std::make_shared<int>(), lock_ != nullptr};
  }

  struct Work {
    Plan plan;
    std::vector<Storage> inputs;
    std::vector<HostTarget> targets;
    absl::InlinedVector<bool, 4> keep = {};
  };
  // Every output has a target.
  Work WorkOf(const Call& call, int64_t misalignment = 0) {
    std::vector<TensorType> types;
    Work work;
    for (const Array& array : call.inputs) {
      types.push_back(array.type);
      work.inputs.push_back(Placed(array, misalignment));
    }
    work.plan = *MakePlan(call.program, types, kBytes);
    for (const uint32_t value : work.plan.outputs) {
      work.targets.push_back(Target(work.plan.values[value].size_bytes()));
    }
    return work;
  }

  std::vector<Execution> Execute(const std::vector<Work>& works) {
    std::vector<Execution> batch(works.size());
    for (size_t i = 0; i < works.size(); ++i) {
      batch[i].plan = &works[i].plan;
      batch[i].inputs = works[i].inputs;
      batch[i].targets = works[i].targets;
      batch[i].keep_outputs = works[i].keep;
    }
    BatchTiming timing;
    const absl::Status status = lane_->Execute(absl::MakeSpan(batch), timing);
    EXPECT_TRUE(status.ok()) << status;
    return batch;
  }

  // The output is in its target, and says so.
  void ExpectInTarget(const Execution& execution, const Work& work, size_t output,
                      const Array& wanted) {
    ASSERT_TRUE(execution.status.ok()) << execution.status;
    const HostBytes& bytes = execution.outputs[output].host;
    ASSERT_EQ(bytes.size_bytes(), wanted.type.size_bytes());
    EXPECT_EQ(bytes.data(), work.targets[output].data);
    EXPECT_EQ(bytes.pieces()[0].owner, work.targets[output].owner);
    Array got = wanted;
    bytes.CopyTo(got.bytes.data());
    EXPECT_TRUE(SameElements(got, wanted)) << "output " << output;
  }

  std::byte* memory_ = nullptr;
  int64_t used_ = 0;
  std::shared_ptr<const void> lock_;
  std::unique_ptr<Lane> lane_;
};

Array Random(const Shape& shape, unsigned seed) {
  return UniformArray(DType::kFloat32, shape, -5, 5, seed);
}

TEST_F(DeviceTest, PinnedMemoryIsCounted) {
  const PinnedMemory pinned = device().pinned_memory();
  EXPECT_EQ(pinned.size_bytes > 0, device().info().id != "cpu");
  EXPECT_LE(pinned.free_bytes, pinned.size_bytes);
  EXPECT_EQ(pinned.fallbacks, 0);
}

TEST_F(HostMemoryContract, ElementwiseOfAllSizes) {
  unsigned seed = 0;
  for (const int64_t count : {1, 1000, 4096, 16384, 16385, 50'001, 1'000'003}) {
    const Call call = {ProgramOf(ElementwiseOp::kAdd, 2),
                       {Random({count}, ++seed), Random({count}, ++seed)}};
    const Array wanted = Run(call)[0];
    for (const int64_t misalignment : {0, 1, 16}) {
      const Work work = WorkOf(call, misalignment);
      ExpectInTarget(Execute({work})[0], work, 0, wanted);
    }
  }
}

TEST_F(HostMemoryContract, ScalarsAndRowsBesideLargeInputs) {
  const Call call = {ProgramOf(ElementwiseOp::kMultiplyAdd, 3),
                     {Random({300, 500}, 1), Random({}, 2), Random({500}, 3)}};
  const Work work = WorkOf(call);
  ExpectInTarget(Execute({work})[0], work, 0, Run(call)[0]);
}

TEST_F(HostMemoryContract, OtherSteps) {
  FilterAttributes box;
  box.kind = FilterKind::kBox;
  box.size = {5, 3};
  const std::vector<Call> calls = {
      {ProgramOf(MatMulAttributes{}, 2), {Random({400, 300}, 1), Random({300, 500}, 2)}},
      {ProgramOf(box, 1), {Random({700, 900}, 3)}},
      {ProgramOf(box, 1), {Random({7, 9}, 4)}}};
  for (const Call& call : calls) {
    const Work work = WorkOf(call, 3);
    ExpectInTarget(Execute({work})[0], work, 0, Run(call)[0]);
  }
}

TEST_F(HostMemoryContract, ProgramsOfSeveralStepsAndOutputs) {
  FilterAttributes box;
  box.kind = FilterKind::kBox;
  box.size = {3, 3};
  ProgramBuilder builder(2);
  const uint32_t sum = builder.Add(ElementwiseOp::kAdd, {0, 1});
  const uint32_t blurred = builder.Add(box, {sum});
  const uint32_t product = builder.Add(ElementwiseOp::kMultiply, {blurred, 0});
  const Call call = {builder.Returning({sum, product, 0, blurred, product}),
                     {Random({200, 301}, 1), Random({200, 301}, 2)}};
  const std::vector<Array> wanted = Run(call);
  const Work work = WorkOf(call);
  const std::vector<Execution> done = Execute({work});
  for (size_t i = 0; i < wanted.size(); ++i) ExpectInTarget(done[0], work, i, wanted[i]);
}

TEST_F(HostMemoryContract, OutputsThatAreInputsOrTheSameValue) {
  ProgramBuilder builder(1);
  const uint32_t negative = builder.Add(ElementwiseOp::kNegative, {0});
  const Call call = {builder.Returning({0, negative, negative, 0}), {Random({40'000}, 1)}};
  const std::vector<Array> wanted = Run(call);
  const Work work = WorkOf(call);
  const std::vector<Execution> done = Execute({work});
  for (size_t i = 0; i < wanted.size(); ++i) ExpectInTarget(done[0], work, i, wanted[i]);
}

// Reshapes are the value that they are of: read, written and given where it is, alone or with it.
TEST_F(HostMemoryContract, ReshapesOfInputsAndResults) {
  const auto reshape = [](std::initializer_list<int64_t> shape) {
    return RearrangeAttributes{.kind = RearrangeKind::kReshape, .sizes = shape};
  };
  FilterAttributes box;
  box.kind = FilterKind::kBox;
  box.size = {3, 3};
  for (const bool blurs : {false, true}) {  // with a filter other paths are taken
    ProgramBuilder builder(1);
    const uint32_t flat = builder.Add(reshape({-1}), {0});
    const uint32_t negative = builder.Add(ElementwiseOp::kNegative, {flat});
    const uint32_t tall = builder.Add(reshape({-1, 4}), {negative});
    const uint32_t doubled = builder.Add(ElementwiseOp::kAdd, {tall, tall});
    const uint32_t last =
        blurs ? builder.Add(box, {doubled}) : builder.Add(ElementwiseOp::kAbs, {0});
    const uint32_t line = builder.Add(reshape({-1}), {last});
    const std::vector<std::vector<uint32_t>> choices = {
        {tall},           {line},
        {flat},           {tall, line},
        {tall, negative}, {last, line},
        {line, line},     {flat, 0},
        {doubled, tall},  {line, flat, 0, tall},
        {doubled},        {line, doubled, negative, last, 0}};
    for (const std::vector<uint32_t>& outputs : choices) {
      for (const int64_t rows : {4, 200}) {
        const Call call = {builder.Returning(outputs), {Random({rows, 300}, 1)}};
        const std::vector<Array> wanted = Run(call);
        used_ = 0;
        const Work work = WorkOf(call);
        const std::vector<Execution> done = Execute({work});
        for (size_t i = 0; i < wanted.size(); ++i) ExpectInTarget(done[0], work, i, wanted[i]);
      }
    }
  }
}

// Inputs that a step reads as they are and reshaped.
TEST_F(HostMemoryContract, InputsReadInTwoShapes) {
  ProgramBuilder builder(2);
  const uint32_t same =
      builder.Add(RearrangeAttributes{.kind = RearrangeKind::kReshape, .sizes = {200, 300}}, {0});
  const uint32_t row =
      builder.Add(RearrangeAttributes{.kind = RearrangeKind::kReshape, .sizes = {1, 60'000}}, {0});
  const uint32_t sum = builder.Add(ElementwiseOp::kAdd, {0, same});
  const uint32_t product = builder.Add(ElementwiseOp::kMultiply, {row, 1});
  const Call call = {builder.Returning({sum, product}),
                     {Random({200, 300}, 1), Random({60'000}, 2)}};
  const std::vector<Array> wanted = Run(call);
  const Work work = WorkOf(call);
  const std::vector<Execution> done = Execute({work});
  for (size_t i = 0; i < wanted.size(); ++i) ExpectInTarget(done[0], work, i, wanted[i]);
}

TEST_F(HostMemoryContract, SomeOutputsKeptOrWithoutTarget) {
  ProgramBuilder builder(1);
  const uint32_t negative = builder.Add(ElementwiseOp::kNegative, {0});
  const uint32_t magnitude = builder.Add(ElementwiseOp::kAbs, {0});
  const Call call = {builder.Returning({negative, magnitude, negative}), {Random({100'000}, 1)}};
  const std::vector<Array> wanted = Run(call);
  Work work = WorkOf(call);
  work.targets[0] = {};
  work.keep = {true, false, false};
  const std::vector<Execution> done = Execute({work});
  ASSERT_NE(done[0].outputs[0].resident, nullptr);
  EXPECT_EQ(done[0].outputs[0].size_bytes(), wanted[0].type.size_bytes());
  ExpectInTarget(done[0], work, 1, wanted[1]);
  ExpectInTarget(done[0], work, 2, wanted[2]);
}

TEST_F(HostMemoryContract, BatchesOfSmallAndLarge) {
  std::vector<Call> calls;
  std::vector<Work> works;
  for (const int64_t count : {10, 70'000, 10, 300'000, 20'000}) {
    calls.push_back({ProgramOf(ElementwiseOp::kSqrt, 1), {Random({count}, 1)}});
    works.push_back(WorkOf(calls.back(), 64 - count % 3 * 4));
  }
  const std::vector<Execution> done = Execute(works);
  for (size_t i = 0; i < calls.size(); ++i) {
    ExpectInTarget(done[i], works[i], 0, Run(calls[i])[0]);
  }
}

TEST_F(HostMemoryContract, AFaultSpoilsItsOwnTaskOnly) {
  std::vector<Work> works;
  const Array base = UniformArray(DType::kInt32, {50'000}, -5, 5, 1);
  for (const int low : {0, -3}) {
    works.push_back(WorkOf({ProgramOf(ElementwiseOp::kPower, 2),
                            {base, UniformArray(DType::kInt32, {50'000}, low, 3, 2)}}));
  }
  const std::vector<Execution> done = Execute(works);
  EXPECT_TRUE(done[0].status.ok());
  EXPECT_EQ(done[1].status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(done[1].outputs.empty());
}

TEST_F(HostMemoryContract, MemoryCanBeLockedAgain) {
  lock_.reset();
  for (int i = 0; i < 3; ++i) {
    const auto lock = device().LockHostMemory(memory_, kBytes);
    ASSERT_TRUE(lock.ok()) << lock.status();
  }
}

}  // namespace
}  // namespace gpucall::contract
