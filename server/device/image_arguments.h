// Steps on images as kernels know them.
#ifndef GPUCALL_SERVER_DEVICE_IMAGE_ARGUMENTS_H_
#define GPUCALL_SERVER_DEVICE_IMAGE_ARGUMENTS_H_

#include <algorithm>

#include "kernels/image.h"
#include "server/base/dtype.h"
#include "server/program/plan.h"

namespace gpucall {

inline image::Sizes SizesOf(const ImageStep::Sizes& sizes) {
  return {sizes.images, sizes.rows, sizes.columns, sizes.channels};
}

// Without pointers.
inline image::Arguments ArgumentsOf(const ImageStep& step) {
  image::Arguments a;
  a.in = SizesOf(step.in);
  a.out_sizes = SizesOf(step.out);
  a.option = step.option;
  a.border = static_cast<image::Border>(step.mode);  // both in scipy.ndimage's order
  std::copy(step.numbers.begin(), step.numbers.end(), a.numbers);
  return a;
}

// REQUIRES: a dtype that images have.
inline image::Element ImageElementOf(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return image::Element::kUint8;
    case DType::kUint16:
      return image::Element::kUint16;
    case DType::kInt16:
      return image::Element::kInt16;
    default:
      return image::Element::kFloat32;
  }
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_IMAGE_ARGUMENTS_H_
