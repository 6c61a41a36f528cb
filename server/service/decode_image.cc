#include "server/service/decode_image.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace gpucall {
namespace {

// The enum value of a wire number, whose values follow each other after `unspecified`. `names`:
// what is allowed.
template <typename Value, typename WireValue>
absl::StatusOr<Value> DecodeName(absl::string_view what, WireValue wire, int last,
                                 absl::string_view names) {
  const int number = static_cast<int>(wire);
  if (number >= 1 && number <= last) return static_cast<Value>(number - 1);
  if (number == 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, " is not set, allowed are ", names));
  }
  return absl::UnimplementedError(absl::StrCat(
      what, " number ", number, " is not offered by this server, offered are ", names));
}

}  // namespace

absl::StatusOr<ImageAttributes> DecodeImage(const v1::Image& image) {
  ImageAttributes attributes;
  switch (image.kind_case()) {
    case v1::Image::kConvertColour: {
      attributes.kind = ImageKind::kConvertColour;
      const auto conversion = DecodeName<ColourConversion>(
          "convert_colour: conversion", image.convert_colour().conversion(),
          v1::ColourConversion_MAX,
          "rgb_to_gray, gray_to_rgb, rgb_to_hsv, hsv_to_rgb, rgb_to_ycrcb, ycrcb_to_rgb");
      if (!conversion.ok()) return conversion.status();
      attributes.conversion = *conversion;
      return attributes;
    }
    case v1::Image::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("image: kind is not set, allowed are convert_colour");
}

}  // namespace gpucall
