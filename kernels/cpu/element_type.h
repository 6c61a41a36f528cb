// The element types CPU kernels work on.
#ifndef GPUCALL_KERNELS_CPU_ELEMENT_TYPE_H_
#define GPUCALL_KERNELS_CPU_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>

namespace gpucall::cpu {

// Rows of kernels/dtypes.def. Of a kBool any byte but 0 is true; kernels write 0 and 1.
enum class ElementType : uint8_t {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) k##Name,
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
};

inline constexpr size_t kElementSizes[] = {
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) size_bytes,
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
};
inline constexpr size_t kElementTypeCount = sizeof(kElementSizes) / sizeof(kElementSizes[0]);

constexpr size_t SizeOf(ElementType type) { return kElementSizes[static_cast<size_t>(type)]; }

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_ELEMENT_TYPE_H_
