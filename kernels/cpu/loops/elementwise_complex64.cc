#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kComplex64Column = ColumnOf<Complex<float>>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
