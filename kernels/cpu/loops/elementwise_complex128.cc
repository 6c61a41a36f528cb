#include "kernels/cpu/loops/elementwise_table.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
const ElementwiseColumn kComplex128Column = ColumnOf<Complex<double>>();
}  // namespace gpucall::cpu::GPUCALL_LEVEL
