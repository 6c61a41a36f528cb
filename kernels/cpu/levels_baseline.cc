#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu {

std::span<const Level> SupportedLevels() {
  static const Level kLevel = {"baseline",         baseline::kElementwise, baseline::kCasts,
                               baseline::kConvert, baseline::kSums,        baseline::kBoxes,
                               baseline::kMedians, baseline::kReduce,      baseline::kProducts};
  return {&kLevel, 1};
}

}  // namespace gpucall::cpu
