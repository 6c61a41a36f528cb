#include "kernels/cuda/image.h"
#include "kernels/cuda/image_pixels.cuh"
#include "kernels/image_values.h"

namespace gpucall::cuda {

cudaError_t LaunchThreshold(const image::Arguments& a, image::Element element,
                            cudaStream_t stream) {
  return image::VisitElement<image::ThresholdPixel>(
      element, [&](auto kernel) { return LaunchPixels<decltype(kernel)>(a, stream); });
}

cudaError_t LaunchAboveMean(const image::Arguments& a, cudaStream_t stream) {
  return LaunchPixels<image::AboveMeanPixel>(a, stream);
}

cudaError_t LaunchLookUp(const image::Arguments& a, cudaStream_t stream) {
  return LaunchPixels<image::LookUpPixel>(a, stream);
}

cudaError_t LaunchSharpen(const image::Arguments& a, image::Element element, cudaStream_t stream) {
  return image::VisitElement<image::SharpenPixel>(
      element, [&](auto kernel) { return LaunchPixels<decltype(kernel)>(a, stream); });
}

cudaError_t LaunchNormalise(const image::Arguments& a, image::Element element,
                            cudaStream_t stream) {
  return image::VisitElement<image::NormalisePixel>(
      element, [&](auto kernel) { return LaunchPixels<decltype(kernel)>(a, stream); });
}

}  // namespace gpucall::cuda
