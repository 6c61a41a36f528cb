#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kUint64Column = ColumnOf<unsigned long long>();
const ElementwiseColumn kInt64Column = ColumnOf<long long>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
