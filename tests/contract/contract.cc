#include "tests/contract/contract.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "server/base/status_macros.h"
#include "server/device/cpu_device.h"
#include "server/device/cuda_module.h"
#include "server/program/plan.h"

namespace gpucall::contract {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 34;

void Set(Array& array, int64_t index, double value) {
  const auto put = [&](auto element) {
    std::memcpy(array.bytes.data() + static_cast<size_t>(index) * sizeof(element), &element,
                sizeof(element));
  };
  switch (array.type.dtype) {
    case DType::kBool:
      return put(static_cast<uint8_t>(value != 0));
    case DType::kUint8:
      return put(static_cast<uint8_t>(value));
    case DType::kInt32:
      return put(static_cast<int32_t>(value));
    case DType::kFloat32:
      return put(static_cast<float>(value));
    default:
      return put(value);
  }
}

Array Empty(DType dtype, const Shape& shape) {
  Array array = {{dtype, shape}, {}};
  array.bytes.resize(static_cast<size_t>(array.type.size_bytes()));
  return array;
}

std::vector<double> SpecialNumbers(DType dtype) {
  if (dtype == DType::kInt32) return {0, 1, -1, 2147483647.0, -2147483648.0, 46341, -46341};
  if (!IsFloating(dtype)) return {0, 1, 2, 127, 128, 255};
  const double tiny = dtype == DType::kFloat32 ? 1e-40 : 1e-310;
  const double huge = dtype == DType::kFloat32 ? 3e38 : 1.7e308;
  const double infinity = std::numeric_limits<double>::infinity();
  return {0.0, -0.0, 1, -1, tiny, -tiny, huge, -huge, infinity, -infinity, std::nan(""), 0.5, 88.8};
}

absl::StatusOr<std::unique_ptr<Device>> MakeDevice() {
  if (std::string(GPUCALL_CONTRACT_DEVICE) == "cuda") return LoadCudaDevice(0);
  return MakeCpuDevice();
}

// A call's inputs in memory that begins at an odd address.
struct Inputs {
  explicit Inputs(const std::vector<Array>& arrays) {
    for (const Array& array : arrays) {
      memory.emplace_back(array.bytes.size() + 1);
      std::copy(array.bytes.begin(), array.bytes.end(), memory.back().begin() + 1);
      storage.push_back(
          {HostBytes(memory.back().data() + 1, static_cast<int64_t>(array.bytes.size()))});
    }
  }
  std::vector<std::vector<std::byte>> memory;
  std::vector<Storage> storage;
};

Results ResultsOf(const Execution& execution) {
  GPUCALL_RETURN_IF_ERROR(execution.status);
  const Plan& plan = *execution.plan;
  EXPECT_EQ(execution.outputs.size(), plan.outputs.size());
  std::vector<Array> results;
  for (size_t i = 0; i < execution.outputs.size(); ++i) {
    const HostBytes& host = execution.outputs[i].host;
    Array array = Empty(plan.values[plan.outputs[i]].dtype, plan.values[plan.outputs[i]].shape);
    EXPECT_EQ(host.size_bytes(), array.type.size_bytes());
    if (host.size_bytes() == array.type.size_bytes()) host.CopyTo(array.bytes.data());
    results.push_back(std::move(array));
  }
  return results;
}

}  // namespace

double Array::at(int64_t index) const {
  switch (type.dtype) {
    case DType::kInt32:
      return get<int32_t>(index);
    case DType::kInt64:
      return static_cast<double>(get<int64_t>(index));
    case DType::kUint64:
      return static_cast<double>(get<uint64_t>(index));
    case DType::kFloat32:
      return get<float>(index);
    case DType::kFloat64:
      return get<double>(index);
    default:
      return get<uint8_t>(index);
  }
}

Array UniformArray(DType dtype, const Shape& shape, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  Array array = Empty(dtype, shape);
  for (int64_t i = 0; i < array.count(); ++i) Set(array, i, distribution(random));
  return array;
}

Array MixedArray(DType dtype, const Shape& shape, unsigned seed) {
  const bool wide = IsFloating(dtype) || dtype == DType::kInt32;
  Array array =
      wide ? UniformArray(dtype, shape, -20, 20, seed) : UniformArray(dtype, shape, 0, 255.9, seed);
  const std::vector<double> special = SpecialNumbers(dtype);
  std::mt19937 random(seed + 1);
  for (int64_t i = 0; i < array.count(); ++i) {
    if (random() % 3 == 0) Set(array, i, special[random() % special.size()]);
  }
  if (dtype == DType::kBool) {
    for (int64_t i = 0; i < array.count(); ++i) Set(array, i, static_cast<double>(random() % 2));
  }
  return array;
}

testing::AssertionResult SameElements(const Array& got, const Array& wanted) {
  if (got.type != wanted.type) return testing::AssertionFailure() << "other dtype or shape";
  const size_t size = ElementSize(got.type.dtype);
  for (int64_t i = 0; i < got.count(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(got.bytes.data() + at, wanted.bytes.data() + at, size) == 0) continue;
    if (std::isnan(got.at(i)) && std::isnan(wanted.at(i))) continue;
    return testing::AssertionFailure()
           << "element " << i << " is " << got.at(i) << ", wanted " << wanted.at(i);
  }
  return testing::AssertionSuccess();
}

Program ProgramOf(const decltype(Operation::attributes)& attributes, uint32_t input_count) {
  absl::InlinedVector<uint32_t, 3> inputs;
  for (uint32_t i = 0; i < input_count; ++i) inputs.push_back(i);
  ProgramBuilder builder(input_count);
  return builder.Returning({builder.Add(attributes, inputs)});
}

uint32_t ProgramBuilder::Add(const decltype(Operation::attributes)& attributes,
                             absl::InlinedVector<uint32_t, 3> inputs) {
  program_.operations.push_back({attributes, std::move(inputs)});
  return program_.input_count + static_cast<uint32_t>(program_.operations.size()) - 1;
}

Program ProgramBuilder::Returning(std::vector<uint32_t> outputs) {
  program_.outputs = std::move(outputs);
  return program_;
}

std::unique_ptr<Device> DeviceTest::device_;
std::unique_ptr<Lane> DeviceTest::lane_;
absl::Status DeviceTest::absent_;

void DeviceTest::SetUpTestSuite() {
  auto device = MakeDevice();
  absent_ = device.status();
  if (!device.ok()) return;
  device_ = *std::move(device);
  auto lane = device_->MakeLane();
  ASSERT_TRUE(lane.ok()) << lane.status();
  lane_ = *std::move(lane);
}

void DeviceTest::TearDownTestSuite() {
  lane_.reset();
  device_.reset();
}

void DeviceTest::SetUp() {
  if (!absent_.ok()) GTEST_SKIP() << absent_;
  ASSERT_NE(lane_, nullptr);
}

absl::StatusOr<std::vector<Results>> DeviceTest::RunBatch(Lane& lane,
                                                          const std::vector<Call>& calls) {
  std::vector<Plan> plans;
  std::vector<Inputs> inputs;
  for (const Call& call : calls) {
    std::vector<TensorType> types;
    for (const Array& array : call.inputs) types.push_back(array.type);
    GPUCALL_ASSIGN_OR_RETURN(Plan plan, MakePlan(call.program, types, kMaxTensorBytes));
    plans.push_back(std::move(plan));
    inputs.emplace_back(call.inputs);
  }
  std::vector<Execution> batch(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(plans[i].signature, plans[0].signature);
    batch[i].plan = &plans[i];
    batch[i].inputs = inputs[i].storage;
  }
  BatchTiming timing;
  GPUCALL_RETURN_IF_ERROR(lane.Execute(absl::MakeSpan(batch), timing));
  EXPECT_GT(timing.compute, absl::ZeroDuration());
  std::vector<Results> results;
  for (const Execution& execution : batch) results.push_back(ResultsOf(execution));
  return results;
}

std::vector<Results> DeviceTest::RunBatch(const std::vector<Call>& calls) {
  auto results = RunBatch(*lane_, calls);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results)
                      : std::vector<Results>(calls.size(), Results(results.status()));
}

std::vector<Array> DeviceTest::Run(const Call& call) {
  std::vector<Results> results = RunBatch({call});
  EXPECT_TRUE(results[0].ok()) << results[0].status();
  return results[0].ok() ? *std::move(results[0]) : std::vector<Array>(call.program.outputs.size());
}

Array DeviceTest::Run(const decltype(Operation::attributes)& attributes,
                      std::vector<Array> inputs) {
  const auto count = static_cast<uint32_t>(inputs.size());
  return Run(Call{ProgramOf(attributes, count), std::move(inputs)})[0];
}

}  // namespace gpucall::contract
