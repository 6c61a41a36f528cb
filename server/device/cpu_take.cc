#include "kernels/cpu/take.h"
#include "server/device/cpu_step.h"
#include "server/program/take.h"

namespace gpucall {

absl::Status RunOnCpu(const TakeStep& step, const CpuValues& values, CpuMemory&) {
  const cpu::TakeShape shape = {.sizes = step.sizes,
                                .x_strides = step.x_strides,
                                .index_strides = step.index_strides,
                                .size = step.size,
                                .stride = step.stride};
  const std::optional<int64_t> bad = cpu::Take(
      values.data(step.x), ElementSize(values.type(step.x).dtype), values.data(step.indices),
      ElementSize(values.type(step.indices).dtype), shape, values.target(step.output));
  return bad.has_value() ? IndexOutOfRange(step, *bad) : absl::OkStatus();
}

}  // namespace gpucall
