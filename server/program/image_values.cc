// Operations on images whose pixels depend on their own values, or on all of them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status_macros.h"
#include "server/program/image_lowerer.h"

namespace gpucall {
namespace {

// Rounded down, into what every integer dtype of images and a little more holds.
double Floored(double value) { return std::floor(std::clamp(value, -1e6, 1e6)); }

}  // namespace

absl::Status ImageLowerer::ConvertColour() {
  const ColourConversion conversion = of().conversion;
  const bool hsv =
      conversion == ColourConversion::kRgbToHsv || conversion == ColourConversion::kHsvToRgb;
  if (hsv && image_.dtype == DType::kUint16) {
    return absl::UnimplementedError(
        absl::StrCat(name_, ": dtype uint16 is not offered for hsv, dtypes are uint8, float32"));
  }
  GPUCALL_RETURN_IF_ERROR(CheckChannels({conversion == ColourConversion::kGrayToRgb ? 1 : 3}));
  step().form = Form::kConvertColour;
  step().option = static_cast<int>(conversion);
  if (conversion == ColourConversion::kRgbToGray) SetChannels(1);
  if (conversion == ColourConversion::kGrayToRgb) SetChannels(3);
  return absl::OkStatus();
}

absl::Status ImageLowerer::Threshold() {
  GPUCALL_RETURN_IF_ERROR(CheckFinite("value", of().value));
  GPUCALL_RETURN_IF_ERROR(CheckFinite("max_value", of().max_value));
  if (of().otsu) {
    GPUCALL_RETURN_IF_ERROR(CheckOtsu());
  }
  const bool floats = image_.dtype == DType::kFloat32;
  const double value = floats ? static_cast<float>(of().value) : Floored(of().value);
  step().option = static_cast<int>(of().threshold);
  step().numbers = {value, AsElement(image_.dtype, value), AsElement(image_.dtype, of().max_value)};
  OneByOne(Form::kThreshold);
  return absl::OkStatus();
}

absl::Status ImageLowerer::CheckOtsu() const {
  if (image_.dtype != DType::kUint8) {
    return absl::UnimplementedError(absl::StrCat(name_, ": dtype ", DTypeName(image_.dtype),
                                                 " is not offered with otsu, dtype is uint8"));
  }
  return CheckChannels({1});
}

absl::Status ImageLowerer::AdaptiveThreshold() {
  GPUCALL_RETURN_IF_ERROR(CheckFinite("offset", of().value));
  GPUCALL_RETURN_IF_ERROR(CheckFinite("max_value", of().max_value));
  if (of().size < 3 || of().size > kMaxAdaptiveSide || of().size % 2 == 0) {
    return Invalid("size is ", of().size, ", allowed is an odd number from 3 to ",
                   kMaxAdaptiveSide);
  }
  const bool inverse = of().threshold == ThresholdKind::kBinaryInv;
  if (of().threshold != ThresholdKind::kBinary && !inverse) {
    return Invalid("kind is none of those allowed: binary, binary_inv");
  }
  const double offset = std::clamp(of().value, -1e6, 1e6);
  const auto area = static_cast<double>(of().size * of().size);
  step().option = static_cast<int>(of().threshold);
  step().numbers = {of().method == AdaptiveMethod::kMean ? area : 1,
                    inverse ? std::floor(offset) : std::ceil(offset),
                    AsElement(image_.dtype, of().max_value)};
  OneByOne(Form::kAboveMean);
  return absl::OkStatus();
}

absl::Status ImageLowerer::Counts() {
  step().form = Form::kHistogram;
  step().option = 256;
  result_.output.dtype = DType::kInt64;
  if (of().kind == ImageKind::kHistogram) {
    GPUCALL_RETURN_IF_ERROR(CheckHistogram());
    step().option = static_cast<int>(of().bins);
    step().numbers = {of().low, of().high};
    shape() = {of().bins};
    return absl::OkStatus();
  }
  if (of().kind != ImageKind::kCountValues) {
    GPUCALL_RETURN_IF_ERROR(CheckChannels({1}));
  }
  if (of().kind == ImageKind::kEqualiseHistogram) {
    result_.output = image_;
    return absl::OkStatus();
  }
  KeepImagesOnly();
  if (of().kind == ImageKind::kCountValues) shape().push_back(256);
  if (of().kind == ImageKind::kOtsu) result_.output.dtype = DType::kUint8;
  return absl::OkStatus();
}

absl::Status ImageLowerer::CheckHistogram() const {
  if (of().bins < 1 || of().bins > kMaxBins) {
    return Invalid("bins is ", of().bins, ", allowed is 1 to ", kMaxBins);
  }
  if (!of().has_range && image_.dtype != DType::kUint8) {
    return Invalid("low and high are not set, of dtype ", DTypeName(image_.dtype), " they must be");
  }
  GPUCALL_RETURN_IF_ERROR(CheckFinite("low", of().low));
  GPUCALL_RETURN_IF_ERROR(CheckFinite("high", of().high));
  if (of().high >= of().low) return absl::OkStatus();
  return Invalid("high is ", of().high, ", allowed is low (", of().low, ") or more");
}

absl::Status ImageLowerer::OfCounts() {
  const bool otsu = of().kind == ImageKind::kOtsuValue;
  step().form = otsu ? Form::kOtsuValue : Form::kEqualiseTable;
  step().in = {.images = image_.count() / 256, .rows = 1, .columns = 1, .channels = 256};
  step().out = step().in;
  result_.output.dtype = DType::kUint8;
  if (otsu) shape().pop_back();
  if (otsu) step().out.channels = 1;
  return absl::OkStatus();
}

absl::Status ImageLowerer::Integral() {
  const bool floats = IsFloating(image_.dtype);
  const bool is_signed = KindOf(image_.dtype) == DTypeKind::kSigned;
  result_.output.dtype = floats ? DType::kFloat64 : (is_signed ? DType::kInt64 : DType::kUint64);
  SetSides(step().in.rows + 1, step().in.columns + 1);
  return absl::OkStatus();
}

absl::Status ImageLowerer::Normalise() {
  const int64_t channels = step().in.channels;
  GPUCALL_RETURN_IF_ERROR(CheckFinite("scale", of().scale));
  for (const auto& [what, list] : {std::pair("mean", &of().mean), {"deviation", &of().deviation}}) {
    const auto count = static_cast<int64_t>(list->size());
    if (count != 1 && count != channels) {
      return Invalid(what, " has ", count, " values, allowed are 1 or ", channels,
                     " (one for each channel)");
    }
    for (const double value : *list) GPUCALL_RETURN_IF_ERROR(CheckFinite(what, value));
  }
  for (const double value : of().deviation) {
    if (value == 0) return Invalid("deviation is 0, allowed is any other finite number");
  }
  step().form = Form::kNormalise;
  step().numbers[0] = of().scale;
  result_.output.dtype = DType::kFloat32;
  return absl::OkStatus();
}

absl::Status ImageLowerer::Canny() {
  if (of().kind == ImageKind::kHysteresis) {
    step().form = Form::kHysteresis;
    return absl::OkStatus();
  }
  GPUCALL_RETURN_IF_ERROR(CheckChannels({1, 2, 3, 4}));
  GPUCALL_RETURN_IF_ERROR(CheckFinite("low", of().low));
  GPUCALL_RETURN_IF_ERROR(CheckFinite("high", of().high));
  const ImageStep::Sizes& in = step().in;
  constexpr int64_t kMostPixels = (int64_t{1} << 31) - 1;
  if (in.images * in.rows * in.columns > kMostPixels) {
    return Invalid("image of shape ", ShapeString(image_.shape), " is too large, allowed are ",
                   kMostPixels, " pixels");
  }
  const bool squares = of().norm == CannyNorm::kL2;
  const auto limit = [&](double value) {
    value = std::min(value, squares ? 32767.0 : 1e6);
    return std::floor(squares && value > 0 ? value * value : std::max(value, -1.0));
  };
  step().form = Form::kCannyMap;
  step().option = squares ? 1 : 0;
  step().numbers = {limit(std::min(of().low, of().high)), limit(std::max(of().low, of().high))};
  SetChannels(1);
  return absl::OkStatus();
}

}  // namespace gpucall
