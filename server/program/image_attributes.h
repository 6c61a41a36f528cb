// Attributes of operations on images that are more than filters. Plain data, nothing checked.
#ifndef GPUCALL_SERVER_PROGRAM_IMAGE_ATTRIBUTES_H_
#define GPUCALL_SERVER_PROGRAM_IMAGE_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "server/program/border.h"

namespace gpucall {

// Rows of the catalogue, in its order, then parts that these are made of (image_composite.h).
enum class ImageKind : uint8_t {
  kConvertColour,
  kThreshold,
  kAdaptiveThreshold,
  kOtsu,
  kHistogram,
  kEqualiseHistogram,
  kIntegral,
  kResize,
  kWarpAffine,
  kNormalise,
  kPyramidDown,
  kPyramidUp,
  kBilateral,
  kUnsharpMask,
  kCanny,
  kCountValues,    // of uint8: how often each occurs in an image, int64
  kOtsuValue,      // (counts)
  kEqualiseTable,  // (counts): a uint8 for each
  kLookUp,         // (image, table)
  kThresholdBy,    // (image, a value for each image)
  kSmooth,         // float32, along one axis
  kAboveMean,      // (image, mean)
  kSharpen,        // (image, smoothed)
  kCannyMap,       // 0, 1: an edge if it touches one, 2: an edge
  kHysteresis      // (map)
};
inline constexpr int kImageRows = static_cast<int>(ImageKind::kCountValues);

enum class ColourConversion : uint8_t {
  kRgbToGray,
  kGrayToRgb,
  kRgbToHsv,
  kHsvToRgb,
  kRgbToYcrcb,
  kYcrcbToRgb
};
enum class ThresholdKind : uint8_t { kBinary, kBinaryInv, kTrunc, kToZero, kToZeroInv };
enum class AdaptiveMethod : uint8_t { kMean, kGaussian };
enum class Interpolation : uint8_t { kNearest, kBilinear, kBicubic, kArea };
enum class CannyNorm : uint8_t { kL1, kL2 };

struct ImageAttributes {
  ImageKind kind = ImageKind::kConvertColour;
  // Those that the kind uses.
  ColourConversion conversion = ColourConversion::kRgbToGray;
  ThresholdKind threshold = ThresholdKind::kBinary;
  AdaptiveMethod method = AdaptiveMethod::kMean;
  Interpolation interpolation = Interpolation::kBilinear;
  CannyNorm norm = CannyNorm::kL1;
  BorderMode mode = BorderMode::kMirror;
  bool otsu = false;
  double cval = 0;
  double value = 0, max_value = 0;  // of thresholds; adaptive ones: value is subtracted
  double low = 0, high = 0;         // Canny's thresholds, a histogram's range
  bool has_range = false;
  double sigma = 0, truncate = 4, amount = 0;  // of a Gaussian; of what is sharpened
  double sigma_colour = 0, sigma_space = 0;
  double scale = 1;
  int64_t size = 0;  // of a window: an odd number; of bilateral: the diameter, 0: by sigma
  int64_t bins = 0;
  int64_t rows = 0, columns = 0;  // of the result
  int axis = 0;                   // kSmooth: 0 down the rows
  std::vector<double> matrix = {};
  std::vector<double> mean = {}, deviation = {};
  bool operator==(const ImageAttributes&) const = default;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_IMAGE_ATTRIBUTES_H_
