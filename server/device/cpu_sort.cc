#include "kernels/cpu/sort.h"
#include "server/base/status_macros.h"
#include "server/device/cpu_step.h"
#include "server/device/numbers.h"

namespace gpucall {

absl::Status RunOnCpu(const SortStep& step, const CpuValues& values, CpuMemory& memory) {
  const DType dtype = values.type(step.x).dtype;
  const cpu::SortShape shape = {step.lines.outer, step.lines.count, step.lines.inner, step.kept};
  GPUCALL_ASSIGN_OR_RETURN(std::byte* const scratch,
                           memory.Allocate(cpu::SortScratchBytes(shape.count)));
  cpu::Sort(values.data(step.x), ElementSize(dtype), KeyRuleOf(dtype, step.descending), shape,
            step.gives_indices ? cpu::SortResult::kIndices : cpu::SortResult::kElements, scratch,
            values.target(step.output));
  return absl::OkStatus();
}

}  // namespace gpucall
