#include "server/device/cpu_device.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "server/base/status_macros.h"
#include "server/device/cpu_block_pool.h"
#include "server/device/cpu_copier.h"
#include "server/device/cpu_memory.h"
#include "server/device/cpu_step.h"
#include "server/device/cpu_values.h"
#include "server/device/host_memory.h"

namespace gpucall {
namespace {

// Smaller outputs stay in the lane's memory, and are copied into a reply.
constexpr int64_t kMinOwnedBytes = 64 << 10;

class CpuLane : public Lane {
 public:
  explicit CpuLane(std::shared_ptr<CpuBlockPool> blocks) : blocks_(std::move(blocks)) {}
  absl::Status Execute(absl::Span<Execution> batch, BatchTiming& timing) override;

 private:
  absl::Status Run(Execution& execution);
  absl::Status PlaceInput(uint32_t value, const Storage& input);
  absl::Status PlaceOutputs(Execution& execution);
  // Where the elements of an output are made, or are already.
  absl::StatusOr<Storage> MakeOutput(uint32_t value, bool keep, const HostTarget* given);
  static void FillTargets(Execution& execution);
  absl::Status RunStep(const Step& step);
  absl::Status AllocateResults(const ElementwiseStep& step);
  absl::Status AllocateResults(const SignalStep& step);
  absl::Status AllocateResults(const auto& step) { return AllocateResult(step.output); }
  absl::Status AllocateResult(uint32_t value);

  const std::shared_ptr<CpuBlockPool> blocks_;
  CpuMemory memory_;
  // Of the task that runs:
  CpuValues values_;
  std::vector<Storage> placed_;  // resident inputs and outputs, by value
};

absl::Status CpuLane::Execute(absl::Span<Execution> batch, BatchTiming& timing) {
  const absl::Time start = absl::Now();
  memory_.Reset();
  absl::Status failure;
  for (Execution& execution : batch) {
    execution.outputs.clear();
    execution.status = Run(execution);
    placed_.clear();  // drops its references to buffers
    if (absl::IsResourceExhausted(execution.status)) failure.Update(execution.status);
    if (!execution.status.ok()) execution.outputs.clear();
  }
  timing = {};
  timing.compute = absl::Now() - start;
  if (!failure.ok()) {
    for (Execution& execution : batch) execution.outputs.clear();
  }
  return failure;
}

absl::Status CpuLane::Run(Execution& execution) {
  const Plan& plan = *execution.plan;
  values_.plan = &plan;
  values_.places.assign(plan.values.size(), {});
  placed_.assign(plan.values.size(), {});
  for (uint32_t i = 0; i < plan.input_count; ++i) {
    GPUCALL_RETURN_IF_ERROR(PlaceInput(i, execution.inputs[i]));
  }
  GPUCALL_RETURN_IF_ERROR(PlaceOutputs(execution));
  const CpuMemory::Mark outputs_end = memory_.mark();
  absl::Status status;
  for (const Step& step : plan.steps) {
    status = RunStep(step);
    if (!status.ok()) break;
  }
  memory_.Rewind(outputs_end);
  if (status.ok()) FillTargets(execution);
  return status;
}

// A value that is several outputs is made in one place, and copied to the others.
void CpuLane::FillTargets(Execution& execution) {
  for (size_t i = 0; i < execution.outputs.size(); ++i) {
    const HostTarget* target = execution.target(i);
    HostBytes& made = execution.outputs[i].host;
    if (target == nullptr || made.data() == target->data || made.size_bytes() == 0) continue;
    std::memmove(target->data, made.data(), static_cast<size_t>(made.size_bytes()));
    made = HostBytes(target->data, made.size_bytes(), target->owner);
  }
}

absl::Status CpuLane::PlaceInput(uint32_t value, const Storage& input) {
  CpuValues::Place& place = values_.places[value];
  if (input.resident != nullptr) {
    place.data = input.resident->data();
    placed_[value] = input;
  } else if (input.host.is_contiguous()) {
    place.data = input.host.data();
  } else {
    const auto size_bytes = static_cast<size_t>(input.host.size_bytes());
    GPUCALL_ASSIGN_OR_RETURN(std::byte* const gathered, memory_.Allocate(size_bytes));
    input.host.CopyTo(gathered);
    place.data = gathered;
  }
  return absl::OkStatus();
}

// Those to keep come first: the same value is then read where it is kept.
absl::Status CpuLane::PlaceOutputs(Execution& execution) {
  const Plan& plan = *execution.plan;
  execution.outputs.resize(plan.outputs.size());
  for (const bool keep : {true, false}) {
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      if (execution.keeps(i) != keep) continue;
      GPUCALL_ASSIGN_OR_RETURN(execution.outputs[i],
                               MakeOutput(plan.roots[plan.outputs[i]], keep, execution.target(i)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Storage> CpuLane::MakeOutput(uint32_t value, bool keep, const HostTarget* given) {
  CpuValues::Place& place = values_.places[value];
  Storage& placed = placed_[value];
  const int64_t size_bytes = values_.type(value).size_bytes();
  if (placed.resident != nullptr && !keep) {
    return Storage{HostBytes(placed.resident->data(), size_bytes, placed.resident)};
  }
  if (placed.resident != nullptr || place.target != nullptr) return placed;
  std::byte* target = nullptr;
  if (keep) {
    GPUCALL_ASSIGN_OR_RETURN(placed.resident, MakeCpuBuffer(*blocks_, size_bytes));
    target = placed.resident->data();
  } else if (given != nullptr) {
    target = given->data;
    placed.host = HostBytes(target, size_bytes, given->owner);
  } else if (size_bytes >= kMinOwnedBytes) {
    GPUCALL_ASSIGN_OR_RETURN(std::shared_ptr<std::byte> block, blocks_->Take(size_bytes));
    target = block.get();
    placed.host = HostBytes(target, size_bytes, std::move(block));
  } else {
    GPUCALL_ASSIGN_OR_RETURN(target, memory_.Allocate(static_cast<size_t>(size_bytes)));
    placed.host = HostBytes(target, size_bytes);
  }
  if (value < values_.plan->input_count && size_bytes > 0) {
    std::memmove(target, place.data, static_cast<size_t>(size_bytes));  // a target may overlap it
  }
  place.data = place.target = target;
  return placed;
}

absl::Status CpuLane::AllocateResult(uint32_t value) {
  CpuValues::Place& place = values_.places[value];
  if (place.target != nullptr) return absl::OkStatus();
  const auto size_bytes = static_cast<size_t>(values_.type(value).size_bytes());
  GPUCALL_ASSIGN_OR_RETURN(place.target, memory_.Allocate(size_bytes));
  place.data = place.target;
  return absl::OkStatus();
}

absl::Status CpuLane::AllocateResults(const ElementwiseStep& step) {
  for (const ElementwiseStep::Output& output : step.outputs) {
    GPUCALL_RETURN_IF_ERROR(AllocateResult(output.value));
  }
  return absl::OkStatus();
}

absl::Status CpuLane::AllocateResults(const SignalStep& step) {
  for (const uint32_t value : {step.output, step.states}) {
    if (value != SignalStep::kNone) GPUCALL_RETURN_IF_ERROR(AllocateResult(value));
  }
  return absl::OkStatus();
}

absl::Status CpuLane::RunStep(const Step& step) {
  GPUCALL_RETURN_IF_ERROR(std::visit([this](const auto& of) { return AllocateResults(of); }, step));
  const CpuMemory::Mark results_end = memory_.mark();
  const absl::Status status =
      std::visit([&](const auto& of) { return RunOnCpu(of, values_, memory_); }, step);
  memory_.Rewind(results_end);
  return status;
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    absl::string_view text = line;
    if (!absl::ConsumePrefix(&text, "model name")) continue;
    return std::string(absl::StripAsciiWhitespace(text.substr(text.find(':') + 1)));
  }
  return "CPU";
}

class CpuDevice : public Device {
 public:
  CpuDevice() {
    info_.id = "cpu";
    info_.name = ProcessorName();
    info_.memory_bytes = HostMemoryLimit();
    info_.default_lanes = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<std::unique_ptr<Lane>> MakeLane() override {
    return std::make_unique<CpuLane>(blocks_);
  }
  absl::StatusOr<BufferPointer> Allocate(int64_t size_bytes) override {
    return MakeCpuBuffer(*blocks_, size_bytes);
  }
  absl::StatusOr<std::unique_ptr<Copier>> MakeCopier() override {
    return std::make_unique<CpuCopier>();
  }
  absl::StatusOr<std::shared_ptr<const void>> LockHostMemory(std::byte*, int64_t) override {
    return nullptr;
  }

 private:
  DeviceInfo info_;
  const std::shared_ptr<CpuBlockPool> blocks_ = std::make_shared<CpuBlockPool>();
};

}  // namespace

std::unique_ptr<Device> MakeCpuDevice() { return std::make_unique<CpuDevice>(); }

}  // namespace gpucall
