#include "kernels/cpu/recurrence.h"
#include "server/device/cpu_step.h"

namespace gpucall {

absl::Status RunOnCpu(const SignalStep& step, const CpuValues& values, CpuMemory&) {
  const DType real = RealPartOf(values.type(step.x).dtype);
  const cpu::Recurrence recurrence = {.outer = step.outer,
                                      .count = step.count,
                                      .inner = step.inner,
                                      .sections = step.sections,
                                      .order = step.order,
                                      .b = step.b,
                                      .a = step.a,
                                      .type = real == DType::kFloat32
                                                  ? cpu::Recurrence::Type::kFloat32
                                                  : cpu::Recurrence::Type::kFloat64};
  const auto target = [&](uint32_t value) {
    return value == SignalStep::kNone ? nullptr : values.target(value);
  };
  const std::byte* const zi = step.zi == SignalStep::kNone ? nullptr : values.data(step.zi);
  cpu::Recur(recurrence, values.data(step.x), zi, target(step.output), target(step.states));
  return absl::OkStatus();
}

}  // namespace gpucall
