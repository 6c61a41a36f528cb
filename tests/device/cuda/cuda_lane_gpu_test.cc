// What the device contract leaves out: sizes past the pinned arena, past 2^31 elements and past the
// device's memory.
#include <cstring>
#include <memory>
#include <numeric>

#include "gtest/gtest.h"
#include "server/device/cuda_module.h"

namespace gpucall {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;

Program ProgramOf(ElementwiseOp op, uint32_t input_count) {
  Program program;
  program.input_count = input_count;
  Operation operation = {op, {}};
  for (uint32_t i = 0; i < input_count; ++i) operation.inputs.push_back(i);
  program.operations = {operation};
  program.outputs = {input_count};
  return program;
}

template <typename T>
Storage StorageOf(const std::vector<T>& values) {
  return {.host = HostBytes(values.data(), static_cast<int64_t>(values.size() * sizeof(T)))};
}

template <typename T>
std::vector<T> ElementsOf(const HostBytes& bytes) {
  std::vector<T> elements(static_cast<size_t>(bytes.size_bytes()) / sizeof(T));
  bytes.CopyTo(reinterpret_cast<std::byte*>(elements.data()));
  return elements;
}

// A call whose plan and views stay where they are.
struct Call {
  Call(const Program& program, const std::vector<TensorType>& types, std::vector<Storage> storage)
      : plan(*MakePlan(program, types, kMaxTensorBytes)), inputs(std::move(storage)) {}
  Execution execution() const {
    Execution result;
    result.plan = &plan;
    result.inputs = inputs;
    return result;
  }
  Plan plan;
  std::vector<Storage> inputs;
};

class CudaLaneTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    absl::StatusOr<std::unique_ptr<Device>> device = LoadCudaDevice(0);
    absent_ = std::string(device.status().message());
    if (!device.ok()) return;
    device_ = *std::move(device);
    lane_ = *device_->MakeLane();
  }
  static void TearDownTestSuite() {
    lane_.reset();
    device_.reset();
  }
  void SetUp() override {
    if (device_ == nullptr) GTEST_SKIP() << absent_;
  }

  static absl::Status Run(absl::Span<Execution> batch) {
    BatchTiming timing;
    return lane_->Execute(batch, timing);
  }
  // Adds [1, 2] and [3, 4].
  static void ExpectWorks() {
    const std::vector<float> a = {1, 2}, b = {3, 4};
    const TensorType type = {DType::kFloat32, {2}};
    const Call call(ProgramOf(ElementwiseOp::kAdd, 2), {type, type}, {StorageOf(a), StorageOf(b)});
    std::vector<Execution> batch = {call.execution()};
    ASSERT_TRUE(Run(absl::MakeSpan(batch)).ok());
    EXPECT_EQ(ElementsOf<float>(batch[0].outputs[0].host), (std::vector<float>{4, 6}));
  }

  static inline std::string absent_;
  static inline std::unique_ptr<Device> device_;
  static inline std::unique_ptr<Lane> lane_;
};

TEST_F(CudaLaneTest, ArraysLargerThanTheArena) {
  for (const int64_t count :
       {(int64_t{64} << 20) / 4, (int64_t{64} << 20) / 4 + 1, int64_t{40'000'003}}) {
    std::vector<float> a(static_cast<size_t>(count)), b(a.size());
    std::iota(a.begin(), a.end(), 0.0f);
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 1013);
    const TensorType type = {DType::kFloat32, {count}};
    const Call call(ProgramOf(ElementwiseOp::kAdd, 2), {type, type}, {StorageOf(a), StorageOf(b)});
    std::vector<Execution> batch = {call.execution()};
    const absl::Status status = Run(absl::MakeSpan(batch));
    ASSERT_TRUE(status.ok()) << status;
    const auto sums = ElementsOf<float>(batch[0].outputs[0].host);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(sums[i], a[i] + b[i]) << "element " << i;
  }
  ExpectWorks();
}

TEST_F(CudaLaneTest, BatchLargerThanTheArena) {
  std::vector<std::vector<double>> inputs;
  std::vector<Call> calls;
  for (int64_t i = 0; i < 5; ++i) {
    inputs.emplace_back(static_cast<size_t>(3'000'000 + 1'000'001 * i));
    std::iota(inputs.back().begin(), inputs.back().end(), static_cast<double>(i));
  }
  for (const auto& input : inputs) {
    const TensorType type = {DType::kFloat64, {static_cast<int64_t>(input.size())}};
    calls.emplace_back(ProgramOf(ElementwiseOp::kNegative, 1), std::vector<TensorType>{type},
                       std::vector<Storage>{StorageOf(input)});
  }
  std::vector<Execution> batch;
  for (const Call& call : calls) batch.push_back(call.execution());
  const absl::Status status = Run(absl::MakeSpan(batch));
  ASSERT_TRUE(status.ok()) << status;
  for (size_t call = 0; call < calls.size(); ++call) {
    const auto out = ElementsOf<double>(batch[call].outputs[0].host);
    for (size_t i = 0; i < inputs[call].size(); ++i) {
      ASSERT_EQ(out[i], -inputs[call][i]) << "call " << call << " element " << i;
    }
  }
}

TEST_F(CudaLaneTest, MoreThan2To31Elements) {
  constexpr int64_t kCount = (int64_t{1} << 31) + 1001;
  std::vector<uint8_t> input(kCount);
  for (int64_t i = 0; i < kCount; ++i) input[i] = static_cast<uint8_t>(i % 251);
  const Call call(ProgramOf(ElementwiseOp::kNegative, 1), {{DType::kUint8, {kCount}}},
                  {StorageOf(input)});
  std::vector<Execution> batch = {call.execution()};
  const absl::Status status = Run(absl::MakeSpan(batch));
  ASSERT_TRUE(status.ok()) << status;
  const auto out = ElementsOf<uint8_t>(batch[0].outputs[0].host);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(out[i], static_cast<uint8_t>(-input[i])) << "element " << i;
  }
}

TEST_F(CudaLaneTest, BroadcastsToMoreThan2To31Elements) {
  constexpr int64_t kSide = 46350;
  std::vector<uint8_t> values(kSide);
  for (int64_t i = 0; i < kSide; ++i) values[i] = static_cast<uint8_t>(i % 239);
  const Call call(ProgramOf(ElementwiseOp::kAdd, 2),
                  {{DType::kUint8, {kSide, 1}}, {DType::kUint8, {1, kSide}}},
                  {StorageOf(values), StorageOf(values)});
  std::vector<Execution> batch = {call.execution()};
  const absl::Status status = Run(absl::MakeSpan(batch));
  ASSERT_TRUE(status.ok()) << status;
  const auto out = ElementsOf<uint8_t>(batch[0].outputs[0].host);
  for (int64_t row = 0; row < kSide; ++row) {
    for (int64_t column = 0; column < kSide; ++column) {
      ASSERT_EQ(out[row * kSide + column], static_cast<uint8_t>(values[row] + values[column]))
          << row << ", " << column;
    }
  }
}

TEST_F(CudaLaneTest, LackOfMemoryIsReportedAndPasses) {
  constexpr int64_t kSide = 200'000;  // 320 GB
  const std::vector<double> values(kSide, 1);
  const Call call(ProgramOf(ElementwiseOp::kAdd, 2),
                  {{DType::kFloat64, {kSide, 1}}, {DType::kFloat64, {1, kSide}}},
                  {StorageOf(values), StorageOf(values)});
  std::vector<Execution> batch = {call.execution()};
  const absl::Status status = Run(absl::MakeSpan(batch));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("320003"), std::string::npos) << status;
  EXPECT_TRUE(batch[0].outputs.empty());
  ExpectWorks();
}

TEST_F(CudaLaneTest, TimesItsStages) {
  const std::vector<float> values(1 << 20, 1);
  const TensorType type = {DType::kFloat32, {1 << 20}};
  const Call call(ProgramOf(ElementwiseOp::kAdd, 2), {type, type},
                  {StorageOf(values), StorageOf(values)});
  std::vector<Execution> batch = {call.execution()};
  BatchTiming timing;
  ASSERT_TRUE(lane_->Execute(absl::MakeSpan(batch), timing).ok());
  for (const absl::Duration stage : {timing.copy_in, timing.compute, timing.copy_out}) {
    EXPECT_GT(stage, absl::ZeroDuration());
    EXPECT_LT(stage, absl::Seconds(1));
  }
}

}  // namespace
}  // namespace gpucall
