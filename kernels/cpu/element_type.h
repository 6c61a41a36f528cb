// The element types CPU kernels work on.
#ifndef GPUCALL_KERNELS_CPU_ELEMENT_TYPE_H_
#define GPUCALL_KERNELS_CPU_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>

namespace gpucall::cpu {

// Of a kBool any byte but 0 is true; kernels write 0 and 1.
enum class ElementType : uint8_t { kBool, kUint8, kInt32, kFloat32, kFloat64 };
inline constexpr size_t kElementTypeCount = 5;

constexpr size_t SizeOf(ElementType type) {
  constexpr size_t kSizes[kElementTypeCount] = {1, 1, 4, 4, 8};
  return kSizes[static_cast<size_t>(type)];
}

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_ELEMENT_TYPE_H_
