#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kFloat16Column = ColumnOf<Float16>();
const ElementwiseColumn kBfloat16Column = ColumnOf<Bfloat16>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
