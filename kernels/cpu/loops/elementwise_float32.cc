#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kFloat32Column = ColumnOf<float>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
