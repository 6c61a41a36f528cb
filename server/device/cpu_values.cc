#include "server/device/cpu_values.h"

namespace gpucall {

cpu::ElementType ElementTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return cpu::ElementType::kBool;
    case DType::kInt32:
      return cpu::ElementType::kInt32;
    case DType::kFloat32:
      return cpu::ElementType::kFloat32;
    case DType::kFloat64:
      return cpu::ElementType::kFloat64;
    default:
      return cpu::ElementType::kUint8;
  }
}

}  // namespace gpucall
