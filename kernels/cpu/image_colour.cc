#include "kernels/image_colour.h"

#include "kernels/cpu/image.h"
#include "kernels/cpu/image_rows.h"

namespace gpucall::cpu {

void ConvertColour(const image::Arguments& a, image::Element element) {
  image::VisitColour(a, element, [&](auto kernel) { MakePixels<decltype(kernel)>(a, 3); });
}

}  // namespace gpucall::cpu
