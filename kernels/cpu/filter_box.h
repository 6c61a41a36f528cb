// Means of uint8 images by running sums: the time hardly depends on the window's size.
#ifndef GPUCALL_KERNELS_CPU_FILTER_BOX_H_
#define GPUCALL_KERNELS_CPU_FILTER_BOX_H_

#include "kernels/cpu/filter.h"

namespace gpucall::cpu {

// out = weight * the sum of the window, which is exact. REQUIRES: a uint8 image, not empty; a
// window of fewer than 2^24 elements.
void BoxFilter(const Image& image, const Window& window, double weight, const Output& output);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_FILTER_BOX_H_
