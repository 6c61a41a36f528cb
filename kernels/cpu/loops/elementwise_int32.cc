#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kUint32Column = ColumnOf<unsigned>();
const ElementwiseColumn kInt32Column = ColumnOf<int>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
