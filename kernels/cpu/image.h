// Operations on images. Pure functions; any sizes, including empty images. Pointers need no
// alignment. Where a comment names a struct, that says what the arguments are.
#ifndef GPUCALL_KERNELS_CPU_IMAGE_H_
#define GPUCALL_KERNELS_CPU_IMAGE_H_

#include "kernels/image.h"

namespace gpucall::cpu {

// a.option: an image::Conversion (image_colour.h).
// REQUIRES: kUint8, kFloat32 or, but for HSV, kUint16, and the conversion's channels.
void ConvertColour(const image::Arguments& a, image::Element element);

// image_values.h: ThresholdPixel, AboveMeanPixel, LookUpPixel, SharpenPixel, NormalisePixel. All
// but the last take images of one channel, whose columns may be of several.
void ThresholdImage(const image::Arguments& a, image::Element element);
void AboveMean(const image::Arguments& a);
void LookUp(const image::Arguments& a);
void Sharpen(const image::Arguments& a, image::Element element);
void Normalise(const image::Arguments& a, image::Element element);

// How many elements of each image are in each bin (image_histogram.h: BinOf): for each image
// a.option int64.
void Histogram(const image::Arguments& a, image::Element element);
// OtsuPixel, EqualiseTablePixel: of 256 int64 for each of a.out_sizes.images.
void OtsuValue(const image::Arguments& a);
void EqualiseTable(const image::Arguments& a);

// image_sampling.h: ResamplePixel, WarpPixel, SmoothPixel.
void Resample(const image::Arguments& a, image::Element element);
void Warp(const image::Arguments& a, image::Element element);
void Smooth(const image::Arguments& a);

// image_bilateral.h. REQUIRES: kUint8 or kFloat32, 1 or 3 channels.
void Bilateral(const image::Arguments& a, image::Element element);

// image_canny.h: CannyMapPixel.
void CannyMap(const image::Arguments& a);
// Of a map of 0, 1 and 2 (uint8, one channel): 255 where it is 2, and where it is 1 and one of the
// 8 pixels around becomes 255; else 0. REQUIRES: below 2^31 pixels.
void Hysteresis(const image::Arguments& a);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_IMAGE_H_
