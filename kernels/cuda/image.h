// Operations on images in device memory: launches only. Operands are aligned to their elements.
// What each takes is in kernels/cpu/image.h.
#ifndef GPUCALL_KERNELS_CUDA_IMAGE_H_
#define GPUCALL_KERNELS_CUDA_IMAGE_H_

#include <cuda_runtime_api.h>

#include "kernels/image.h"

namespace gpucall::cuda {

cudaError_t LaunchConvertColour(const image::Arguments& a, image::Element element,
                                cudaStream_t stream);

cudaError_t LaunchThreshold(const image::Arguments& a, image::Element element, cudaStream_t stream);
cudaError_t LaunchAboveMean(const image::Arguments& a, cudaStream_t stream);
cudaError_t LaunchLookUp(const image::Arguments& a, cudaStream_t stream);
cudaError_t LaunchSharpen(const image::Arguments& a, image::Element element, cudaStream_t stream);
cudaError_t LaunchNormalise(const image::Arguments& a, image::Element element, cudaStream_t stream);

cudaError_t LaunchHistogram(const image::Arguments& a, image::Element element, cudaStream_t stream);
cudaError_t LaunchOtsuValue(const image::Arguments& a, cudaStream_t stream);
cudaError_t LaunchEqualiseTable(const image::Arguments& a, cudaStream_t stream);

cudaError_t LaunchResample(const image::Arguments& a, image::Element element, cudaStream_t stream);
cudaError_t LaunchWarp(const image::Arguments& a, image::Element element, cudaStream_t stream);
cudaError_t LaunchSmooth(const image::Arguments& a, cudaStream_t stream);
cudaError_t LaunchBilateral(const image::Arguments& a, image::Element element, cudaStream_t stream);

cudaError_t LaunchCannyMap(const image::Arguments& a, cudaStream_t stream);
// Bytes of a.scratch, aligned to 4, that LaunchHysteresis needs.
int64_t HysteresisScratchBytes(const image::Sizes& sizes);
cudaError_t LaunchHysteresis(const image::Arguments& a, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_IMAGE_H_
