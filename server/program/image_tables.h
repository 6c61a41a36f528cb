// Weights of operations on images.
#ifndef GPUCALL_SERVER_PROGRAM_IMAGE_TABLES_H_
#define GPUCALL_SERVER_PROGRAM_IMAGE_TABLES_H_

#include <cstdint>
#include <vector>

#include "server/program/plan.h"

namespace gpucall {

// The table of a step that LowerImage made for an image of the dtype.
std::vector<double> ImageTable(const ImageAttributes& attributes, const ImageStep& step,
                               DType dtype);

// What each place of an axis is made of: `count` pairs (place before, weight) for each.
struct Taps {
  int64_t count = 0;
  std::vector<double> pairs;
};

// An axis of `before` places, not 0, in `after`. `shrinks` (of area): both axes do.
Taps ResizeTaps(Interpolation interpolation, int64_t before, int64_t after, bool shrinks);
// Their count alone.
int64_t ResizeTapCount(Interpolation interpolation, int64_t before, int64_t after, bool shrinks);
// OpenCV's pyrDown and pyrUp.
Taps PyramidDownTaps(int64_t before);
Taps PyramidUpTaps(int64_t before);

// Of a square with an odd side, as OpenCV's getGaussianKernel for sigma 0.
std::vector<double> WindowGaussian(int64_t size);

// (2 radius + 1)^2 weights of distances, 0 outside the circle; then those of differences from 0 to
// `differences` - 1.
std::vector<double> BilateralTable(int64_t radius, double sigma_space, double sigma_colour,
                                   int64_t differences);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_IMAGE_TABLES_H_
