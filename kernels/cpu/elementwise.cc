#include "kernels/cpu/elementwise.h"

#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu {

ElementwiseLoop FindElementwiseLoop(size_t row, ElementType type) {
  return BestLevel().elementwise.columns[static_cast<size_t>(type)]->loops[row];
}
CastLoop FindCastLoop(ElementType from, ElementType to) {
  return BestLevel().casts.loops[static_cast<size_t>(from)][static_cast<size_t>(to)];
}
ConvertLoop FindConvertLoop(ElementType from, ElementType to) {
  return BestLevel().convert.loops[static_cast<size_t>(from)][static_cast<size_t>(to)];
}
FaultScan FindPowerFaultScan(ElementType type) {
  return BestLevel().elementwise.power_faults[static_cast<size_t>(type)];
}

}  // namespace gpucall::cpu
