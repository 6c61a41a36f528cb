// What lies outside an image.
#ifndef GPUCALL_SERVER_PROGRAM_BORDER_H_
#define GPUCALL_SERVER_PROGRAM_BORDER_H_

#include <cstdint>

namespace gpucall {

enum class BorderMode : uint8_t {
  kNearest,
  kReflect,
  kMirror,
  kWrap,
  kConstant
};  // scipy.ndimage's

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_BORDER_H_
