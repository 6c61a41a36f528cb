#include "server/service/decode_image.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"
#include "server/service/decode_operation.h"

namespace gpucall {
namespace {

// Names of an enum's values on the wire, but for the first: "rgb_to_gray, gray_to_rgb".
std::string NamesOf(const google::protobuf::EnumDescriptor& values) {
  const std::string first = values.value(0)->name();
  const absl::string_view prefix = absl::StripSuffix(first, "UNSPECIFIED");
  std::vector<std::string> names;
  for (int i = 1; i < values.value_count(); ++i) {
    const std::string& name = values.value(i)->name();
    names.push_back(absl::AsciiStrToLower(absl::StripPrefix(name, prefix)));
  }
  return absl::StrJoin(names, ", ");
}

// Sets `value`, an enum like that on the wire but for its first.
template <typename Value, typename Wire>
absl::Status DecodeEnum(absl::string_view what, Wire wire, Value& value) {
  const google::protobuf::EnumDescriptor& values = *google::protobuf::GetEnumDescriptor<Wire>();
  const int number = static_cast<int>(wire);
  if (number == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is not set, allowed are ", NamesOf(values)));
  }
  if (number < 0 || number >= values.value_count()) {
    return absl::UnimplementedError(absl::StrCat(
        what, " number ", number, " is not offered by this server, offered are ", NamesOf(values)));
  }
  value = static_cast<Value>(number - 1);
  return absl::OkStatus();
}

absl::Status Decode(const v1::ConvertColour& message, ImageAttributes& to) {
  to.kind = ImageKind::kConvertColour;
  return DecodeEnum("convert_colour: conversion", message.conversion(), to.conversion);
}

absl::Status Decode(const v1::Threshold& message, ImageAttributes& to) {
  to.kind = ImageKind::kThreshold;
  to.value = message.value();
  to.max_value = message.max_value();
  to.otsu = message.otsu();
  return DecodeEnum("threshold: kind", message.kind(), to.threshold);
}

absl::Status Decode(const v1::AdaptiveThreshold& message, ImageAttributes& to) {
  to.kind = ImageKind::kAdaptiveThreshold;
  to.size = message.size();
  to.value = message.offset();
  to.max_value = message.max_value();
  GPUCALL_RETURN_IF_ERROR(DecodeEnum("adaptive_threshold: method", message.method(), to.method));
  return DecodeEnum("adaptive_threshold: kind", message.kind(), to.threshold);
}

absl::Status Decode(const v1::Histogram& message, ImageAttributes& to) {
  to.kind = ImageKind::kHistogram;
  to.bins = message.bins();
  to.has_range = message.has_low() && message.has_high();
  if (message.has_low() != message.has_high()) {
    return absl::InvalidArgumentError(
        "histogram: low and high, one of them is not set, allowed are both or none");
  }
  to.low = message.low();
  to.high = message.high();
  return absl::OkStatus();
}

absl::Status Decode(const v1::Resize& message, ImageAttributes& to) {
  to.kind = ImageKind::kResize;
  to.rows = message.rows();
  to.columns = message.columns();
  return DecodeEnum("resize: interpolation", message.interpolation(), to.interpolation);
}

absl::Status DecodeBorder(absl::string_view name, const v1::Border& border, ImageAttributes& to) {
  if (border.mode() != v1::BORDER_MODE_UNSPECIFIED) {
    GPUCALL_ASSIGN_OR_RETURN(to.mode, DecodeBorderMode(name, border.mode()));
  }
  to.cval = border.cval();
  return absl::OkStatus();
}

absl::Status Decode(const v1::WarpAffine& message, ImageAttributes& to) {
  to.kind = ImageKind::kWarpAffine;
  to.matrix.assign(message.matrix().begin(), message.matrix().end());
  to.rows = message.rows();
  to.columns = message.columns();
  to.mode = BorderMode::kConstant;
  GPUCALL_RETURN_IF_ERROR(DecodeBorder("warp_affine", message.border(), to));
  return DecodeEnum("warp_affine: interpolation", message.interpolation(), to.interpolation);
}

absl::Status Decode(const v1::Normalise& message, ImageAttributes& to) {
  to.kind = ImageKind::kNormalise;
  to.mean.assign(message.mean().begin(), message.mean().end());
  to.deviation.assign(message.deviation().begin(), message.deviation().end());
  if (message.has_scale()) to.scale = message.scale();
  return absl::OkStatus();
}

absl::Status Decode(const v1::Bilateral& message, ImageAttributes& to) {
  to.kind = ImageKind::kBilateral;
  to.size = message.diameter();
  to.sigma_colour = message.sigma_colour();
  to.sigma_space = message.sigma_space();
  to.mode = BorderMode::kMirror;
  return DecodeBorder("bilateral", message.border(), to);
}

absl::Status Decode(const v1::UnsharpMask& message, ImageAttributes& to) {
  to.kind = ImageKind::kUnsharpMask;
  to.sigma = message.sigma();
  to.amount = message.amount();
  if (message.has_truncate()) to.truncate = message.truncate();
  return absl::OkStatus();
}

absl::Status Decode(const v1::Canny& message, ImageAttributes& to) {
  to.kind = ImageKind::kCanny;
  to.low = message.low();
  to.high = message.high();
  to.norm = message.l2() ? CannyNorm::kL2 : CannyNorm::kL1;
  return absl::OkStatus();
}

// Operations without attributes.
absl::Status DecodePlain(ImageKind kind, ImageAttributes& to) {
  to.kind = kind;
  return absl::OkStatus();
}

absl::Status NotSet() {
  std::vector<absl::string_view> names;
  for (const CatalogueRow& row : Catalogue()) {
    if (row.kind == OperationKind::kImage) names.push_back(row.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("image: kind is not set, allowed are ", absl::StrJoin(names, ", ")));
}

absl::Status DecodeKind(const v1::Image& image, ImageAttributes& to) {
  switch (image.kind_case()) {
    case v1::Image::kConvertColour:
      return Decode(image.convert_colour(), to);
    case v1::Image::kThreshold:
      return Decode(image.threshold(), to);
    case v1::Image::kAdaptiveThreshold:
      return Decode(image.adaptive_threshold(), to);
    case v1::Image::kOtsu:
      return DecodePlain(ImageKind::kOtsu, to);
    case v1::Image::kHistogram:
      return Decode(image.histogram(), to);
    case v1::Image::kEqualiseHistogram:
      return DecodePlain(ImageKind::kEqualiseHistogram, to);
    case v1::Image::kIntegral:
      return DecodePlain(ImageKind::kIntegral, to);
    case v1::Image::kResize:
      return Decode(image.resize(), to);
    case v1::Image::kWarpAffine:
      return Decode(image.warp_affine(), to);
    case v1::Image::kNormalise:
      return Decode(image.normalise(), to);
    case v1::Image::kPyramidDown:
      return DecodePlain(ImageKind::kPyramidDown, to);
    case v1::Image::kPyramidUp:
      return DecodePlain(ImageKind::kPyramidUp, to);
    case v1::Image::kBilateral:
      return Decode(image.bilateral(), to);
    case v1::Image::kUnsharpMask:
      return Decode(image.unsharp_mask(), to);
    case v1::Image::kCanny:
      return Decode(image.canny(), to);
    case v1::Image::KIND_NOT_SET:
      break;
  }
  return NotSet();
}

}  // namespace

absl::StatusOr<ImageAttributes> DecodeImage(const v1::Image& image) {
  ImageAttributes attributes;
  GPUCALL_RETURN_IF_ERROR(DecodeKind(image, attributes));
  return attributes;
}

}  // namespace gpucall
