#include "server/program/image.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/str_join.h"
#include "server/base/status_macros.h"
#include "server/program/image_lowerer.h"

namespace gpucall {

double AsElement(DType dtype, double value) {
  switch (dtype) {
    case DType::kUint8:
      return std::clamp(std::nearbyint(value), 0.0, 255.0);
    case DType::kUint16:
      return std::clamp(std::nearbyint(value), 0.0, 65535.0);
    case DType::kInt16:
      return std::clamp(std::nearbyint(value), -32768.0, 32767.0);
    default:
      return static_cast<float>(value);
  }
}

absl::StatusOr<ImageLowering> ImageLowerer::Lower() {
  if (attributes_.kind < ImageKind::kCountValues) {
    GPUCALL_RETURN_IF_ERROR(CheckOffered(RowOf(attributes_.kind), image_.dtype));
  }
  result_.output = image_;
  GPUCALL_RETURN_IF_ERROR(SetSizes());
  GPUCALL_RETURN_IF_ERROR(LowerKind());
  return std::move(result_);
}

absl::Status ImageLowerer::SetSizes() {
  const Shape& from = image_.shape;
  if (of().kind == ImageKind::kHistogram) {
    step().in.columns = image_.count();
    return absl::OkStatus();
  }
  if (of().kind == ImageKind::kOtsuValue || of().kind == ImageKind::kEqualiseTable) {
    return absl::OkStatus();  // counts
  }
  if (from.size() < 2) {
    return Invalid("image has rank ", from.size(), " (shape ", ShapeString(from),
                   "), allowed are (rows, columns), (rows, columns, channels), and several of ",
                   "the latter");
  }
  const size_t rows = from.size() == 2 ? 0 : from.size() - 3;
  for (size_t d = 0; d < rows; ++d) step().in.images *= from[d];
  step().in.rows = from[rows];
  step().in.columns = from[rows + 1];
  if (from.size() > 2) step().in.channels = from.back();
  step().out = step().in;
  constexpr int64_t kMost = int64_t{1} << 40;  // of images without elements: results stay in int64
  if (step().in.rows <= kMost && step().in.columns <= kMost) return absl::OkStatus();
  return Invalid("image of shape ", ShapeString(from), " has a side over ", kMost);
}

absl::Status ImageLowerer::LowerKind() {
  switch (of().kind) {
    case ImageKind::kConvertColour:
      return ConvertColour();
    case ImageKind::kThreshold:
    case ImageKind::kThresholdBy:
      return Threshold();
    case ImageKind::kAdaptiveThreshold:
    case ImageKind::kAboveMean:
      return AdaptiveThreshold();
    case ImageKind::kOtsu:
    case ImageKind::kEqualiseHistogram:
    case ImageKind::kCountValues:
    case ImageKind::kHistogram:
      return Counts();
    case ImageKind::kOtsuValue:
    case ImageKind::kEqualiseTable:
      return OfCounts();
    case ImageKind::kIntegral:
      return Integral();
    case ImageKind::kLookUp:
      OneByOne(Form::kLookUp);
      return absl::OkStatus();
    case ImageKind::kSharpen:
      step().numbers[0] = of().amount;
      OneByOne(Form::kSharpen);
      return absl::OkStatus();
    case ImageKind::kUnsharpMask:
    case ImageKind::kSmooth:
      return Smooth();
    case ImageKind::kResize:
      return Resize();
    case ImageKind::kWarpAffine:
      return WarpAffine();
    case ImageKind::kNormalise:
      return Normalise();
    case ImageKind::kPyramidDown:
      return Pyramid((step().in.rows + 1) / 2, (step().in.columns + 1) / 2, 5);
    case ImageKind::kPyramidUp:
      return Pyramid(2 * step().in.rows, 2 * step().in.columns, 3);
    case ImageKind::kBilateral:
      return Bilateral();
    case ImageKind::kCanny:
    case ImageKind::kCannyMap:
    case ImageKind::kHysteresis:
      return Canny();
  }
  return absl::OkStatus();
}

void ImageLowerer::OneByOne(Form form) {
  step().form = form;
  step().in.columns *= step().in.channels;
  step().in.channels = 1;
  step().out = step().in;
}

void ImageLowerer::SetChannels(int64_t channels) {
  step().out.channels = channels;
  if (shape().size() == 2 && channels > 1) shape().push_back(channels);
  if (shape().size() > 2) shape().back() = channels;
  if (shape().size() == 3 && channels == 1) shape().pop_back();
}

void ImageLowerer::KeepImagesOnly() {
  const size_t rank = shape().size();
  shape().resize(rank <= 3 ? 0 : rank - 3);
}

absl::Status ImageLowerer::CheckChannels(std::initializer_list<int64_t> allowed) const {
  const int64_t channels = result_.step.in.channels;
  if (std::find(allowed.begin(), allowed.end(), channels) != allowed.end()) {
    return absl::OkStatus();
  }
  return Invalid("image of shape ", ShapeString(image_.shape), " has ", channels,
                 " channels, allowed is ", absl::StrJoin(allowed, " or "));
}

absl::Status ImageLowerer::CheckFinite(absl::string_view what, double value) const {
  if (std::isfinite(value)) return absl::OkStatus();
  return Invalid(what, " is ", value, ", allowed is any finite number");
}

absl::Status ImageLowerer::CheckPositive(absl::string_view what, double value) const {
  if (value > 0 && std::isfinite(value)) return absl::OkStatus();
  return Invalid(what, " is ", value, ", allowed is any finite number above 0");
}

std::string TextOf(const ImageAttributes& attributes) {
  std::string text;
  for (const int64_t number :
       {static_cast<int64_t>(attributes.kind), static_cast<int64_t>(attributes.conversion),
        static_cast<int64_t>(attributes.threshold), static_cast<int64_t>(attributes.method),
        static_cast<int64_t>(attributes.interpolation), static_cast<int64_t>(attributes.norm),
        static_cast<int64_t>(attributes.mode), int64_t{attributes.otsu},
        int64_t{attributes.has_range}, int64_t{attributes.axis}, attributes.size, attributes.bins,
        attributes.rows, attributes.columns}) {
    absl::StrAppend(&text, number, " ");
  }
  const auto append = [&](absl::Span<const double> numbers) {
    for (const double number : numbers) {
      absl::StrAppend(&text, std::bit_cast<uint64_t>(number), " ");
    }
    absl::StrAppend(&text, "; ");
  };
  append({attributes.cval, attributes.value, attributes.max_value, attributes.low, attributes.high,
          attributes.sigma, attributes.truncate, attributes.amount, attributes.sigma_colour,
          attributes.sigma_space, attributes.scale});
  append(attributes.matrix);
  append(attributes.mean);
  append(attributes.deviation);
  return text;
}

size_t OperandCount(ImageKind kind) {
  switch (kind) {
    case ImageKind::kLookUp:
    case ImageKind::kThresholdBy:
    case ImageKind::kAboveMean:
    case ImageKind::kSharpen:
      return 2;
    default:
      return 1;
  }
}

absl::StatusOr<ImageLowering> LowerImage(const ImageAttributes& attributes,
                                         absl::Span<const TensorType* const> operands) {
  return ImageLowerer(attributes, operands).Lower();
}

}  // namespace gpucall
