#include "kernels/cpu/reduce.h"
#include "server/device/cpu_step.h"

namespace gpucall {
namespace {

cpu::Dimensions DimensionsOf(const Walk& walk) { return {walk.sizes, walk.strides}; }

}  // namespace

absl::Status RunOnCpu(const ReduceStep& step, const CpuValues& values, CpuMemory&) {
  const cpu::LineShape lines = {DimensionsOf(step.lines.starts), DimensionsOf(step.lines.elements)};
  cpu::Reduce(static_cast<size_t>(step.op), step.parameter, values.data(step.x),
              ElementTypeOf(values.type(step.x).dtype), lines, values.target(step.output));
  return absl::OkStatus();
}

}  // namespace gpucall
