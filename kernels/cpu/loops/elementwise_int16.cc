#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kUint16Column = ColumnOf<unsigned short>();
const ElementwiseColumn kInt16Column = ColumnOf<short>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
