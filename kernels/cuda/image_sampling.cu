#include "kernels/cuda/image.h"
#include "kernels/cuda/image_pixels.cuh"
#include "kernels/image_sampling.h"

namespace gpucall::cuda {

cudaError_t LaunchResample(const image::Arguments& a, image::Element element, cudaStream_t stream) {
  return image::VisitElement<image::ResamplePixel>(
      element, [&](auto kernel) { return LaunchPixels<decltype(kernel)>(a, stream); });
}

cudaError_t LaunchWarp(const image::Arguments& a, image::Element element, cudaStream_t stream) {
  return image::VisitElement<image::WarpPixel>(
      element, [&](auto kernel) { return LaunchPixels<decltype(kernel)>(a, stream); });
}

cudaError_t LaunchSmooth(const image::Arguments& a, cudaStream_t stream) {
  return LaunchPixels<image::SmoothPixel>(a, stream);
}

}  // namespace gpucall::cuda
