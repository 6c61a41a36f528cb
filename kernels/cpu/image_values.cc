#include "kernels/image_values.h"

#include "kernels/cpu/image.h"
#include "kernels/cpu/image_rows.h"

namespace gpucall::cpu {

void ThresholdImage(const image::Arguments& a, image::Element element) {
  image::VisitElement<image::ThresholdPixel>(element,
                                             [&](auto kernel) { MakePixels<decltype(kernel)>(a); });
}

void AboveMean(const image::Arguments& a) { MakePixels<image::AboveMeanPixel>(a, 2); }

void LookUp(const image::Arguments& a) { MakePixels<image::LookUpPixel>(a, 2); }

void Sharpen(const image::Arguments& a, image::Element element) {
  image::VisitElement<image::SharpenPixel>(
      element, [&](auto kernel) { MakePixels<decltype(kernel)>(a, 2); });
}

void Normalise(const image::Arguments& a, image::Element element) {
  image::VisitElement<image::NormalisePixel>(element,
                                             [&](auto kernel) { MakePixels<decltype(kernel)>(a); });
}

}  // namespace gpucall::cpu
