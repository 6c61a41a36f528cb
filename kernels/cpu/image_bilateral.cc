#include "kernels/image_bilateral.h"

#include "kernels/cpu/image.h"
#include "kernels/cpu/image_rows.h"

namespace gpucall::cpu {

void Bilateral(const image::Arguments& a, image::Element element) {
  const int64_t side = 2 * a.option + 1;
  image::VisitBilateral(a, element,
                        [&](auto kernel) { MakePixels<decltype(kernel)>(a, 4 * side * side); });
}

}  // namespace gpucall::cpu
