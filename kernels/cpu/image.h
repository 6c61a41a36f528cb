// Operations on images. Pure functions; any sizes, including empty images.
#ifndef GPUCALL_KERNELS_CPU_IMAGE_H_
#define GPUCALL_KERNELS_CPU_IMAGE_H_

#include "kernels/image.h"

namespace gpucall::cpu {

// One pixel of the output for each of the input; a.option: an image::Conversion.
// REQUIRES: kUint8, kFloat32 or, but for HSV, kUint16, and the conversion's channels.
void ConvertColour(const image::Arguments& a, image::Element element);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_IMAGE_H_
