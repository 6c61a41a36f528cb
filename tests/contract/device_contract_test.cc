// What server/device/device.h says of batches, faults and lanes.
#include <thread>

#include "absl/strings/match.h"
#include "server/device/device.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

using Op = ElementwiseOp;

// Each call in the batch gives what it gives alone.
void ExpectBatchEqualsAlone(DeviceTest& test, const std::vector<Call>& calls) {
  const std::vector<Results> batched = test.RunBatch(calls);
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(batched[i].ok()) << batched[i].status();
    const std::vector<Array> alone = test.Run(calls[i]);
    ASSERT_EQ(batched[i]->size(), alone.size());
    for (size_t o = 0; o < alone.size(); ++o) {
      EXPECT_TRUE(SameElements((*batched[i])[o], alone[o])) << "call " << i << " output " << o;
    }
  }
}

TEST_F(DeviceTest, SaysWhatItIs) {
  const DeviceInfo& info = device().info();
  EXPECT_TRUE(info.id == "cpu" || absl::StartsWith(info.id, "cuda:")) << info.id;
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_GE(info.default_lanes, 1);
  EXPECT_EQ(info.id == "cpu", info.compute_capability.empty());
}

// A batch of calls whose first operand has these shapes; `other` gives the second's for each.
template <class OtherShape>
void CheckElementwiseBatch(DeviceTest& test, const std::vector<Shape>& shapes, OtherShape other) {
  ProgramBuilder builder(3);
  const uint32_t product = builder.Add(Op::kMultiplyAdd, {0, 1, 2});
  const Program program = builder.Returning({builder.Add(Op::kExp, {product}), product});
  std::vector<Call> calls;
  for (unsigned i = 0; i < 40; ++i) {
    const Shape& shape = shapes[i % shapes.size()];
    calls.push_back(
        {program,
         {MixedArray(DType::kFloat32, shape, i), MixedArray(DType::kFloat32, other(shape), i + 1),
          MixedArray(DType::kFloat32, shape, i + 2)}});
  }
  ExpectBatchEqualsAlone(test, calls);
}

TEST_F(DeviceTest, BatchOfElementwiseCallsOfManyShapes) {
  CheckElementwiseBatch(*this, {{}, {1}, {1000}, {0}, {33, 3}, {7, 1, 5}, {100000}, {2, 0}},
                        [](const Shape& shape) { return shape; });
  CheckElementwiseBatch(*this, {{9}, {1000}, {0}, {33, 3}, {7, 1, 5}, {100000}},
                        [](const Shape&) { return Shape{}; });
  CheckElementwiseBatch(*this, {{9, 3}, {1000, 7}, {2, 33, 3}, {7, 2, 5}, {100, 1000}},
                        [](const Shape& shape) { return Shape{shape.back()}; });
}

TEST_F(DeviceTest, BatchOfProductsOfManyShapes) {
  std::vector<Call> calls;
  for (unsigned i = 0; i < 24; ++i) {
    const int64_t m = i % 2 ? 64 : 1 + i * 3, k = i % 2 ? 64 : i % 5 * 7, n = 64;
    const Shape a = i % 6 == 0 ? Shape{3, m, k} : Shape{m, k};
    calls.push_back({ProgramOf(MatMulAttributes{}, 2),
                     {UniformArray(DType::kFloat32, a, -1, 1, i),
                      UniformArray(DType::kFloat32, {k, n}, -1, 1, i + 1)}});
  }
  ExpectBatchEqualsAlone(*this, calls);
}

TEST_F(DeviceTest, BatchOfFiltersOfManyShapes) {
  const FilterAttributes gaussian = {.kind = FilterKind::kGaussian, .sigma = {1.5, 2}};
  const FilterAttributes median = {.kind = FilterKind::kMedian, .size = {3, 4}};
  for (const FilterAttributes& attributes : {gaussian, median}) {
    for (int64_t channels : {1, 3}) {
      std::vector<Call> calls;
      for (unsigned i = 0; i < 12; ++i) {
        const Shape shape = i == 5 ? Shape{0, 5, channels} : Shape{1 + 31 * i, i * 5 + 1, channels};
        calls.push_back({ProgramOf(attributes, 1), {MixedArray(DType::kUint8, shape, i)}});
      }
      ExpectBatchEqualsAlone(*this, calls);
    }
  }
}

TEST_F(DeviceTest, OneFaultLeavesTheOthersRight) {
  constexpr size_t kCalls = 32, kFaulty = 13;
  std::vector<Call> calls;
  for (size_t i = 0; i < kCalls; ++i) {
    const Shape shape = {static_cast<int64_t>(10 + i * 300)};
    Array exponent = UniformArray(DType::kInt32, shape, 0, 5, static_cast<unsigned>(i));
    if (i == kFaulty) {
      const int32_t negative = -3;
      std::memcpy(exponent.bytes.data() + 4000, &negative, sizeof(negative));
    }
    calls.push_back({ProgramOf(Op::kPower, 2), {MixedArray(DType::kInt32, shape, 5), exponent}});
  }
  const std::vector<Results> results = RunBatch(calls);
  for (size_t i = 0; i < kCalls; ++i) {
    if (i == kFaulty) {
      EXPECT_EQ(results[i].status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_TRUE(absl::StrContains(results[i].status().message(), "power")) << results[i].status();
      EXPECT_TRUE(absl::StrContains(results[i].status().message(), "exponent"));
      EXPECT_TRUE(absl::StrContains(results[i].status().message(), "negative"));
      continue;
    }
    ASSERT_TRUE(results[i].ok()) << i << ": " << results[i].status();
    EXPECT_TRUE(SameElements((*results[i])[0], Run(calls[i])[0])) << i;
  }
}

TEST_F(DeviceTest, FaultInALaterStepAndInAScalar) {
  ProgramBuilder builder(2);
  const uint32_t sum = builder.Add(Op::kAdd, {0, 0});
  const Program program = builder.Returning({builder.Add(Op::kPower, {sum, 1}), sum});
  const Array base = MixedArray(DType::kInt32, {3, 3}, 1);
  const std::vector<Results> results =
      RunBatch({{program, {base, ArrayOf<int32_t>({}, {-1})}},
                {program, {base, ArrayOf<int32_t>({}, {2})}},
                {program, {ArrayOf<int32_t>({0}, {}), ArrayOf<int32_t>({}, {-1})}}});
  EXPECT_EQ(results[0].status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(results[1].ok()) << results[1].status();
  EXPECT_TRUE(results[2].ok()) << "no element is raised to a power: " << results[2].status();
}

TEST_F(DeviceTest, NanNeighboursChangeNothing) {
  const Array nan = UniformArray(DType::kFloat32, {16, 16}, std::nan(""), std::nan(""), 1);
  for (const auto& attributes : {decltype(Operation::attributes)(MatMulAttributes{}),
                                 decltype(Operation::attributes)(Op::kMultiply)}) {
    std::vector<Call> calls;
    for (unsigned i = 0; i < 32; ++i) {
      const Array finite = UniformArray(DType::kFloat32, {16, 16}, -1, 1, i);
      calls.push_back({ProgramOf(attributes, 2), {i == 7 ? nan : finite, finite}});
    }
    const std::vector<Results> results = RunBatch(calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(results[i].ok());
      for (int64_t e = 0; e < 256; ++e) {
        ASSERT_EQ(std::isnan((*results[i])[0].at(e)), i == 7) << i;
      }
    }
  }
}

TEST_F(DeviceTest, OutputsMayBeInputsAndRepeat) {
  ProgramBuilder builder(2);
  const uint32_t sum = builder.Add(Op::kAdd, {0, 1});
  const Array a = MixedArray(DType::kUint8, {5, 7}, 1), b = MixedArray(DType::kUint8, {7}, 2);
  const auto got = Run({builder.Returning({1, sum, 0, sum, 1}), {a, b}});
  EXPECT_TRUE(SameElements(got[0], b));
  EXPECT_TRUE(SameElements(got[1], Run(Op::kAdd, {a, b})));
  EXPECT_TRUE(SameElements(got[2], a));
  EXPECT_TRUE(SameElements(got[3], got[1]));
  EXPECT_TRUE(SameElements(got[4], b));
}

TEST_F(DeviceTest, ProgramsOfNoOperation) {
  const Array a = MixedArray(DType::kFloat64, {3, 0}, 1), b = MixedArray(DType::kInt32, {9}, 1);
  const auto got = Run({ProgramBuilder(2).Returning({1, 0}), {a, b}});
  EXPECT_TRUE(SameElements(got[0], b));
  EXPECT_TRUE(SameElements(got[1], a));
}

// Batches of 10, 2 and 10, large and small: nothing of an earlier one shows.
TEST_F(DeviceTest, LanesForgetEarlierBatches) {
  for (unsigned round = 0; round < 6; ++round) {
    std::vector<Call> calls;
    for (unsigned i = 0; i < (round % 2 ? 2u : 10u); ++i) {
      const Shape shape = {round % 3 == 0 ? 300000 : 17 + static_cast<int64_t>(i)};
      calls.push_back({ProgramOf(Op::kSubtract, 2),
                       {MixedArray(DType::kInt32, shape, round * 10 + i),
                        MixedArray(DType::kInt32, shape, round + i)}});
    }
    ExpectBatchEqualsAlone(*this, calls);
  }
}

TEST_F(DeviceTest, LanesWorkAtTheSameTime) {
  const Call call = {ProgramOf(MatMulAttributes{}, 2),
                     {UniformArray(DType::kFloat32, {90, 80}, -1, 1, 1),
                      UniformArray(DType::kFloat32, {80, 70}, -1, 1, 2)}};
  const Array wanted = Run(call)[0];
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      auto lane = device().MakeLane();
      ASSERT_TRUE(lane.ok()) << lane.status();
      for (int i = 0; i < 20; ++i) {
        const auto results = RunBatch(**lane, {call, call});
        ASSERT_TRUE(results.ok() && (*results)[1].ok());
        ASSERT_TRUE(SameElements((*(*results)[1])[0], wanted));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gpucall::contract
