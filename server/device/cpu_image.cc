#include "server/device/cpu_image.h"

#include "kernels/cpu/image.h"
#include "server/device/image_arguments.h"

namespace gpucall {

void RunImage(const ImageStep& step, const CpuValues& values) {
  image::Arguments a = ArgumentsOf(step);
  a.x = values.data(step.x);
  if (step.second != ImageStep::kNone) a.second = values.data(step.second);
  a.out = values.target(step.output);
  a.table = step.table.data();
  const image::Element element = ImageElementOf(values.type(step.x).dtype);
  switch (step.form) {
    case ImageStep::Form::kConvertColour:
      return cpu::ConvertColour(a, element);
  }
}

}  // namespace gpucall
