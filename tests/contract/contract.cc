#include "tests/contract/contract.h"

#include <algorithm>
#include <string>

#include "server/base/status_macros.h"
#include "server/device/cpu_device.h"
#include "server/device/cuda_module.h"
#include "server/program/plan.h"

namespace gpucall::contract {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 34;

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
