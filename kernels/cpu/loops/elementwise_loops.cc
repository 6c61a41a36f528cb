#include <math.h>

#include "kernels/cpu/loops/half.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vectorize.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

#define GPUCALL_FN
#include "kernels/elementwise_types.h"
// The functions are of those types.
#include "kernels/elementwise_functions.h"

using namespace gpucall::elementwise;

template <class T>
size_t FindPowerFault(const void* exponents, size_t count) {
  const auto* elements = static_cast<const Element<T>*>(exponents);
  bool any = false;
  for (size_t i = 0; i < count; ++i) any |= PowerFaults(static_cast<T>(elements[i].value));
  if (!any) return count;
  size_t i = 0;  // up to count: a client may change shared memory meanwhile
  while (i < count && !PowerFaults(static_cast<T>(elements[i].value))) ++i;
  return i;
}

template <class T>
constexpr FaultScan ScanOf() {
  if constexpr (kIsInteger<T>) {
    if constexpr (kIsSigned<T>) return FindPowerFault<T>;
  }
  return nullptr;
}

}  // namespace

const ElementwiseTable kElementwise = {
    .columns =
        {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) &k##Name##Column,
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
        },
    .power_faults =
        {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) ScanOf<Type>(),
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
        },
};

}  // namespace gpucall::cpu::GPUCALL_LEVEL
