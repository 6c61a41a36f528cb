// Elements that depend on nothing but their index.
#ifndef GPUCALL_KERNELS_CPU_CREATION_H_
#define GPUCALL_KERNELS_CPU_CREATION_H_

#include <cstddef>
#include <cstdint>

#include "kernels/creation_functions.h"
#include "kernels/numbers.h"

namespace gpucall::cpu {

// Writes `count` elements to `out`. `numbers`: kUnsigned or kSigned of 1, 2, 4 or 8 bytes, kFloat
// of 4 or 8.
void Create(const creation::Recipe& recipe, Numbers numbers, size_t element_bytes, int64_t count,
            std::byte* out);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_CREATION_H_
