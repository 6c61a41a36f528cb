#include "server/device/cpu_device.h"

#include <unistd.h>

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
#include "server/device/cpu_elementwise.h"
#include "server/device/cpu_filter.h"
#include "server/device/cpu_matmul.h"
#include "server/device/cpu_memory.h"
#include "server/device/cpu_rearrange.h"
#include "server/device/cpu_reduce.h"
#include "server/device/cpu_values.h"

namespace gpucall {
namespace {

// The value that a step other than an elementwise one writes.
uint32_t OutputOf(const Step& step) {
  if (const auto* matmul = std::get_if<MatMulStep>(&step)) return matmul->output;
  if (const auto* reduce = std::get_if<ReduceStep>(&step)) return reduce->output;
  if (const auto* rearrange = std::get_if<RearrangeStep>(&step)) return rearrange->output;
  return std::get<FilterStep>(step).output;
}

class CpuLane : public Lane {
 public:
  absl::Status Execute(absl::Span<Execution> batch, BatchTiming& timing) override;

 private:
  absl::Status Run(Execution& execution);
  absl::Status AllocateOutputs(const Plan& plan);
  absl::Status RunStep(const Step& step);
  absl::Status AllocateResults(const Step& step);
  absl::Status AllocateResult(uint32_t value);

  CpuMemory memory_;
  CpuValues values_;  // of the task that runs
};

absl::Status CpuLane::Execute(absl::Span<Execution> batch, BatchTiming& timing) {
  const absl::Time start = absl::Now();
  memory_.Reset();
  absl::Status failure;
  for (Execution& execution : batch) {
    execution.outputs.clear();
    execution.status = Run(execution);
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
  for (uint32_t i = 0; i < plan.input_count; ++i) {
    values_.places[i].data = static_cast<const std::byte*>(execution.inputs[i].data);
  }
  GPUCALL_RETURN_IF_ERROR(AllocateOutputs(plan));
  const CpuMemory::Mark outputs_end = memory_.mark();
  absl::Status status;
  for (const Step& step : plan.steps) {
    status = RunStep(step);
    if (!status.ok()) break;
  }
  memory_.Rewind(outputs_end);
  GPUCALL_RETURN_IF_ERROR(status);
  for (uint32_t value : plan.outputs) {
    execution.outputs.push_back({values_.data(value), values_.type(value).size_bytes()});
  }
  return absl::OkStatus();
}

absl::Status CpuLane::AllocateResult(uint32_t value) {
  CpuValues::Place& place = values_.places[value];
  if (place.target != nullptr) return absl::OkStatus();
  const auto size_bytes = static_cast<size_t>(values_.type(value).size_bytes());
  GPUCALL_ASSIGN_OR_RETURN(place.target, memory_.Allocate(size_bytes));
  place.data = place.target;
  return absl::OkStatus();
}

absl::Status CpuLane::AllocateOutputs(const Plan& plan) {
  for (uint32_t output : plan.outputs) {
    const uint32_t value = plan.roots[output];
    const std::byte* input = values_.data(value);
    GPUCALL_RETURN_IF_ERROR(AllocateResult(value));
    if (value < plan.input_count && values_.data(value) != input) {
      const auto size_bytes = static_cast<size_t>(values_.type(value).size_bytes());
      if (size_bytes > 0) std::memcpy(values_.target(value), input, size_bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status CpuLane::AllocateResults(const Step& step) {
  if (const auto* elementwise = std::get_if<ElementwiseStep>(&step)) {
    for (const ElementwiseStep::Output& output : elementwise->outputs) {
      GPUCALL_RETURN_IF_ERROR(AllocateResult(output.value));
    }
    return absl::OkStatus();
  }
  return AllocateResult(OutputOf(step));
}

absl::Status CpuLane::RunStep(const Step& step) {
  GPUCALL_RETURN_IF_ERROR(AllocateResults(step));
  const CpuMemory::Mark results_end = memory_.mark();
  absl::Status status;
  if (const auto* elementwise = std::get_if<ElementwiseStep>(&step)) {
    status = RunElementwise(*elementwise, values_, memory_);
  } else if (const auto* matmul = std::get_if<MatMulStep>(&step)) {
    status = RunMatMul(*matmul, values_, memory_);
  } else if (const auto* reduce = std::get_if<ReduceStep>(&step)) {
    RunReduce(*reduce, values_);
  } else if (const auto* rearrange = std::get_if<RearrangeStep>(&step)) {
    RunRearrange(*rearrange, values_);
  } else {
    RunFilter(std::get<FilterStep>(step), values_);
  }
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
    info_.memory_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    info_.default_lanes = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<std::unique_ptr<Lane>> MakeLane() override { return std::make_unique<CpuLane>(); }

 private:
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> MakeCpuDevice() { return std::make_unique<CpuDevice>(); }

}  // namespace gpucall
