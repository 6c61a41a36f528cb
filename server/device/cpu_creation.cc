#include "server/device/cpu_creation.h"

#include "kernels/cpu/creation.h"
#include "server/device/creation_recipe.h"
#include "server/device/numbers.h"

namespace gpucall {

void RunCreation(const CreationStep& step, const CpuValues& values) {
  const TensorType& type = values.type(step.output);
  cpu::Create(RecipeOf(step), NumbersOf(type.dtype), ElementSize(type.dtype), type.count(),
              values.target(step.output));
}

}  // namespace gpucall
