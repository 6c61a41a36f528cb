// Operations on images in device memory: launches only. Operands are aligned to their elements.
// What each takes is in kernels/cpu/image.h.
#ifndef GPUCALL_KERNELS_CUDA_IMAGE_H_
#define GPUCALL_KERNELS_CUDA_IMAGE_H_

#include <cuda_runtime_api.h>

#include "kernels/image.h"

namespace gpucall::cuda {

cudaError_t LaunchConvertColour(const image::Arguments& a, image::Element element,
                                cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_IMAGE_H_
