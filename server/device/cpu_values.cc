#include "server/device/cpu_values.h"

namespace gpucall {

// Both are the rows of kernels/dtypes.def; DType has kUnspecified before them.
cpu::ElementType ElementTypeOf(DType dtype) {
  return static_cast<cpu::ElementType>(static_cast<uint8_t>(dtype) - 1);
}

}  // namespace gpucall
