// Attributes of operations on images that are more than filters. Plain data, nothing checked.
#ifndef GPUCALL_SERVER_PROGRAM_IMAGE_ATTRIBUTES_H_
#define GPUCALL_SERVER_PROGRAM_IMAGE_ATTRIBUTES_H_

#include <cstdint>

#include "server/program/border.h"

namespace gpucall {

enum class ImageKind : uint8_t { kConvertColour };

enum class ColourConversion : uint8_t {
  kRgbToGray,
  kGrayToRgb,
  kRgbToHsv,
  kHsvToRgb,
  kRgbToYcrcb,
  kYcrcbToRgb
};

struct ImageAttributes {
  ImageKind kind = ImageKind::kConvertColour;
  // Those that the kind uses.
  ColourConversion conversion = ColourConversion::kRgbToGray;
  bool operator==(const ImageAttributes&) const = default;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_IMAGE_ATTRIBUTES_H_
