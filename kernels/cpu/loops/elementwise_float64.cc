#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kFloat64Column = ColumnOf<double>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
