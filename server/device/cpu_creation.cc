#include "kernels/cpu/creation.h"
#include "server/device/cpu_step.h"
#include "server/device/creation_recipe.h"
#include "server/device/numbers.h"

namespace gpucall {

absl::Status RunOnCpu(const CreationStep& step, const CpuValues& values, CpuMemory&) {
  const TensorType& type = values.type(step.output);
  cpu::Create(RecipeOf(step), NumbersOf(type.dtype), ElementSize(type.dtype), type.count(),
              values.target(step.output));
  return absl::OkStatus();
}

}  // namespace gpucall
