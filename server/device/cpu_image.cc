#include "kernels/cpu/image.h"
#include "server/device/cpu_step.h"
#include "server/device/image_arguments.h"

namespace gpucall {

namespace {

void RunForm(ImageStep::Form form, const image::Arguments& a, image::Element element) {
  switch (form) {
    case ImageStep::Form::kConvertColour:
      return cpu::ConvertColour(a, element);
    case ImageStep::Form::kThreshold:
      return cpu::ThresholdImage(a, element);
    case ImageStep::Form::kAboveMean:
      return cpu::AboveMean(a);
    case ImageStep::Form::kLookUp:
      return cpu::LookUp(a);
    case ImageStep::Form::kSharpen:
      return cpu::Sharpen(a, element);
    case ImageStep::Form::kNormalise:
      return cpu::Normalise(a, element);
    case ImageStep::Form::kHistogram:
      return cpu::Histogram(a, element);
    case ImageStep::Form::kOtsuValue:
      return cpu::OtsuValue(a);
    case ImageStep::Form::kEqualiseTable:
      return cpu::EqualiseTable(a);
    case ImageStep::Form::kResample:
      return cpu::Resample(a, element);
    case ImageStep::Form::kWarp:
      return cpu::Warp(a, element);
    case ImageStep::Form::kSmooth:
      return cpu::Smooth(a);
    case ImageStep::Form::kBilateral:
      return cpu::Bilateral(a, element);
    case ImageStep::Form::kCannyMap:
      return cpu::CannyMap(a);
    case ImageStep::Form::kHysteresis:
      return cpu::Hysteresis(a);
  }
}

}  // namespace

absl::Status RunOnCpu(const ImageStep& step, const CpuValues& values, CpuMemory&) {
  image::Arguments a = ArgumentsOf(step);
  a.x = values.data(step.x);
  if (step.second != ImageStep::kNone) a.second = values.data(step.second);
  a.out = values.target(step.output);
  a.table = step.table.data();
  const image::Element element = ImageElementOf(values.type(step.x).dtype);
  RunForm(step.form, a, element);
  return absl::OkStatus();
}

}  // namespace gpucall
