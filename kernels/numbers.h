// What bits stand for.
#ifndef GPUCALL_KERNELS_NUMBERS_H_
#define GPUCALL_KERNELS_NUMBERS_H_

#include <cstdint>

namespace gpucall {

// Of a kBool any byte but 0 is true. kFloat: IEEE 754's, and of two bytes bfloat16 too.
enum class Numbers : uint8_t { kBool, kUnsigned, kSigned, kFloat };

}  // namespace gpucall

#endif  // GPUCALL_KERNELS_NUMBERS_H_
