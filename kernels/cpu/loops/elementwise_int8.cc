#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kUint8Column = ColumnOf<unsigned char>();
const ElementwiseColumn kInt8Column = ColumnOf<signed char>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
