#include "kernels/cuda/image.h"
#include "kernels/cuda/image_pixels.cuh"
#include "kernels/image_bilateral.h"

namespace gpucall::cuda {

cudaError_t LaunchBilateral(const image::Arguments& a, image::Element element,
                            cudaStream_t stream) {
  return image::VisitBilateral(
      a, element, [&](auto kernel) { return LaunchPixels<decltype(kernel)>(a, stream); });
}

}  // namespace gpucall::cuda
