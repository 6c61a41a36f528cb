// A number as an element of any dtype.
#ifndef GPUCALL_SERVER_PROGRAM_FILL_ELEMENT_H_
#define GPUCALL_SERVER_PROGRAM_FILL_ELEMENT_H_

#include <array>
#include <cstddef>
#include <optional>

#include "server/base/dtype.h"

namespace gpucall {

// The element's bytes, then zeros; of a complex dtype the number is the real part. None: an integer
// dtype does not have the number, or a float16 or bfloat16 is to be other than 0.
std::optional<std::array<std::byte, 16>> FillElement(DType dtype, double value);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_FILL_ELEMENT_H_
