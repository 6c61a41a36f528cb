// Creations as kernels know them.
#ifndef GPUCALL_SERVER_DEVICE_CREATION_RECIPE_H_
#define GPUCALL_SERVER_DEVICE_CREATION_RECIPE_H_

#include "kernels/creation_functions.h"
#include "server/program/plan.h"

namespace gpucall {

// REQUIRES: not kFull.
inline creation::Recipe RecipeOf(const CreationStep& step) {
  creation::Recipe recipe = {.kind = creation::Kind::kArange,
                             .bits = step.bits,
                             .first = step.first,
                             .second = step.second,
                             .step = step.step,
                             .integer_first = step.integer_first,
                             .integer_step = step.integer_step,
                             .range = step.range,
                             .seed = step.seed};
  if (step.kind == CreationKind::kRandomUniform) recipe.kind = creation::Kind::kUniform;
  if (step.kind == CreationKind::kRandomNormal) recipe.kind = creation::Kind::kNormal;
  if (step.kind == CreationKind::kRandomIntegers) recipe.kind = creation::Kind::kIntegers;
  return recipe;
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CREATION_RECIPE_H_
