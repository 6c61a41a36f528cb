#include "kernels/image_sampling.h"

#include "kernels/cpu/image.h"
#include "kernels/cpu/image_rows.h"

namespace gpucall::cpu {

void Resample(const image::Arguments& a, image::Element element) {
  const auto taps = static_cast<int64_t>(a.numbers[0] * a.numbers[1]);
  image::VisitElement<image::ResamplePixel>(
      element, [&](auto kernel) { MakePixels<decltype(kernel)>(a, taps); });
}

void Warp(const image::Arguments& a, image::Element element) {
  image::VisitElement<image::WarpPixel>(element,
                                        [&](auto kernel) { MakePixels<decltype(kernel)>(a, 10); });
}

void Smooth(const image::Arguments& a) {
  MakePixels<image::SmoothPixel>(a, static_cast<int64_t>(a.numbers[0]));
}

}  // namespace gpucall::cpu
