#include "server/program/catalogue_rows.h"

namespace gpucall {
namespace {

constexpr DType kEveryDType[] = {
#define GPUCALL_DTYPE(Name, ...) DType::k##Name,
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
};
using DTypes = absl::Span<const DType>;
constexpr DTypes kEvery(kEveryDType);
constexpr DTypes kNotBool = kEvery.subspan(1);
constexpr DTypes kReal = kEvery.first(static_cast<size_t>(DType::kFloat64));
constexpr DTypes kNumbers = kReal.subspan(1), kIntegers = kNumbers.first(8),
                 kFloats = kNumbers.subspan(8);
// Of images.
constexpr DType kColours[] = {DType::kUint8, DType::kUint16, DType::kFloat32};
constexpr DType kPixels[] = {DType::kUint8, DType::kUint16, DType::kInt16, DType::kFloat32};
constexpr DType kBytes[] = {DType::kUint8};
constexpr DType kSmoothed[] = {DType::kUint8, DType::kFloat32};

constexpr CatalogueRow kRows[] = {
    {"matmul", OperationKind::kMatMul, 2, kNotBool,
     "matrix product, batched over leading dimensions"},
    // In the order of FilterKind.
    {"gaussian", OperationKind::kFilter, 1, kNumbers, "Gaussian smoothing"},
    {"box", OperationKind::kFilter, 1, kNumbers, "mean over a window"},
    {"sobel", OperationKind::kFilter, 1, kNumbers, "first derivative along an axis"},
    {"laplacian", OperationKind::kFilter, 1, kNumbers, "second derivative, 4-neighbour form"},
    {"median", OperationKind::kFilter, 1, kNumbers, "median over a window"},
    {"correlate", OperationKind::kFilter, 2, kNumbers, "correlation with a kernel"},
    {"convolve", OperationKind::kFilter, 2, kNumbers, "convolution with a kernel"},
    {"minimum_filter", OperationKind::kFilter, 1, kNumbers, "smallest element of a window"},
    {"maximum_filter", OperationKind::kFilter, 1, kNumbers, "largest element of a window"},
    {"rank_filter", OperationKind::kFilter, 1, kNumbers, "element of a given rank of a window"},
    {"percentile_filter", OperationKind::kFilter, 1, kNumbers, "percentile of a window"},
    {"grey_erosion", OperationKind::kFilter, 1, kNumbers, "smallest element of a window"},
    {"grey_dilation", OperationKind::kFilter, 1, kNumbers,
     "largest element of the mirrored window"},
    {"prewitt", OperationKind::kFilter, 1, kNumbers,
     "first derivative along an axis, [1 1 1] along the other"},
    {"scharr", OperationKind::kFilter, 1, kNumbers,
     "first derivative along an axis, [3 10 3] along the other"},
    {"grey_opening", OperationKind::kFilter, 1, kNumbers, "erosion, then dilation"},
    {"grey_closing", OperationKind::kFilter, 1, kNumbers, "dilation, then erosion"},
    {"morphological_gradient", OperationKind::kFilter, 1, kNumbers, "dilation minus erosion"},
    {"white_tophat", OperationKind::kFilter, 1, kNumbers, "image minus its opening"},
    {"black_tophat", OperationKind::kFilter, 1, kNumbers, "closing of an image minus the image"},
    {"gaussian_laplace", OperationKind::kFilter, 1, kNumbers,
     "sum of second derivatives of a Gaussian"},
    {"gaussian_gradient_magnitude", OperationKind::kFilter, 1, kNumbers,
     "root of the squared first derivatives of a Gaussian"},
    {"correlate1d", OperationKind::kFilter, 1, kNumbers, "correlation along an axis"},
    {"convolve1d", OperationKind::kFilter, 1, kNumbers, "convolution along an axis"},
    {"binary_erosion", OperationKind::kFilter, 1, kReal, "true where all of a window is"},
    {"binary_dilation", OperationKind::kFilter, 1, kReal,
     "true where any of the mirrored window is"},
    {"binary_opening", OperationKind::kFilter, 1, kReal, "erosions, then dilations"},
    {"binary_closing", OperationKind::kFilter, 1, kReal, "dilations, then erosions"},
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) \
  {#name, OperationKind::kReduce, 1, kReal, description},
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
    // In the order of RearrangeKind.
    {"reshape", OperationKind::kRearrange, 1, kEvery, "the same elements in another shape"},
    {"transpose", OperationKind::kRearrange, 1, kEvery, "dimensions in another order"},
    {"concatenate", OperationKind::kRearrange, 1, kEvery, "arrays joined along an axis"},
    {"stack", OperationKind::kRearrange, 1, kEvery, "arrays joined along a new axis"},
    {"slice", OperationKind::kRearrange, 1, kEvery,
     "every step-th element of a range of each dimension"},
    {"pad", OperationKind::kRearrange, 1, kEvery, "surrounded by a value"},
    {"flip", OperationKind::kRearrange, 1, kEvery, "elements in reverse order along axes"},
    {"tile", OperationKind::kRearrange, 1, kEvery, "repeated along each dimension"},
    {"broadcast_to", OperationKind::kRearrange, 1, kEvery, "broadcast to a shape"},
    {"roll", OperationKind::kRearrange, 1, kEvery,
     "elements moved on along axes, in again at the start"},
    {"expand_dims", OperationKind::kRearrange, 1, kEvery, "with dimensions of size 1"},
    {"squeeze", OperationKind::kRearrange, 1, kEvery, "without dimensions of size 1"},
    {"moveaxis", OperationKind::kRearrange, 1, kEvery, "dimensions moved to other places"},
    {"repeat", OperationKind::kRearrange, 1, kEvery, "each element several times"},
    {"unstack", OperationKind::kRearrange, 1, kEvery, "one element of an axis"},
    {"sort", OperationKind::kSort, 1, kReal, "elements in order along an axis, or their indices"},
    // In the order of ScanOp.
    {"cumsum", OperationKind::kScan, 1, kReal, "sum of the elements so far"},
    {"cumprod", OperationKind::kScan, 1, kReal, "product of the elements so far"},
    {"take", OperationKind::kTake, 2, kEvery, "elements by their indices in an axis"},
    {"take_along_axis", OperationKind::kTake, 2, kEvery,
     "elements by an index in an axis for each"},
    // In the order of CreationKind.
    {"full", OperationKind::kCreation, 0, kEvery, "one value everywhere"},
    {"arange", OperationKind::kCreation, 0, kNumbers, "evenly spaced numbers"},
    {"random_uniform", OperationKind::kCreation, 0, kFloats, "random numbers, evenly distributed"},
    {"random_normal", OperationKind::kCreation, 0, kFloats, "random numbers, normally distributed"},
    {"random_integers", OperationKind::kCreation, 0, kIntegers,
     "random integers, evenly distributed"},
    // In the order of ImageKind.
    {"convert_colour", OperationKind::kImage, 1, kColours, "rgb to gray, hsv or ycrcb, and back"},
    {"threshold", OperationKind::kImage, 1, kPixels,
     "elements above a threshold, or those below, as they are or white"},
    {"adaptive_threshold", OperationKind::kImage, 1, kBytes,
     "white where elements are above the mean around them"},
    {"otsu", OperationKind::kImage, 1, kBytes,
     "threshold that divides the values of an image best"},
    {"histogram", OperationKind::kImage, 1, kPixels,
     "how many elements are in each of several bins"},
    {"equalise_histogram", OperationKind::kImage, 1, kBytes, "gray values spread evenly"},
    {"integral", OperationKind::kImage, 1, kPixels, "sums of all elements above and to the left"},
    {"resize", OperationKind::kImage, 1, kPixels, "another size"},
    {"warp_affine", OperationKind::kImage, 1, kPixels, "turned, scaled, sheared and moved"},
    {"normalise", OperationKind::kImage, 1, kPixels,
     "minus a mean, over a deviation, of each channel"},
    {"pyramid_down", OperationKind::kImage, 1, kPixels, "smoothed, half the size"},
    {"pyramid_up", OperationKind::kImage, 1, kPixels, "twice the size, smoothed"},
    {"bilateral", OperationKind::kImage, 1, kSmoothed,
     "mean weighted by distance and by difference"},
    {"unsharp_mask", OperationKind::kImage, 1, kPixels, "sharpened by what smoothing takes away"},
    {"canny", OperationKind::kImage, 1, kBytes, "edges, one pixel wide"},
    // In the order of NetworkKind.
    {"conv2d", OperationKind::kNetwork, 2, kFloats, "convolution of images"},
    {"max_pool2d", OperationKind::kNetwork, 1, kFloats, "largest of each window"},
    {"avg_pool2d", OperationKind::kNetwork, 1, kFloats, "mean of each window"},
    // In the order of SignalKind.
    {"lfilter", OperationKind::kSignal, 1, kEvery, "recurrence along an axis (IIR or FIR filter)"},
    {"sosfilt", OperationKind::kSignal, 1, kEvery, "second-order sections along an axis"},
};

}  // namespace

absl::Span<const CatalogueRow> FurtherRows() { return kRows; }

}  // namespace gpucall
