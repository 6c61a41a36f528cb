#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kBoolColumn = ColumnOf<bool>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
