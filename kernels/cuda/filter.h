// 2-D image filters. Launchers enqueue on a stream, never wait, and return the launch's error.
//
// A launch filters a batch of images of any sizes with one window. Blocks are numbered through the
// batch: an image's tiles, of FilterTile's size, row by row.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_H_
#define GPUCALL_KERNELS_CUDA_FILTER_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gpucall::cuda {

// What lies outside the image; scipy.ndimage's names.
enum class Border : uint8_t { kNearest, kReflect, kMirror, kWrap, kConstant };

enum class PixelType : uint8_t { kUint8, kFloat32 };
enum class WeightType : uint8_t { kUint8, kInt32, kFloat32, kFloat64 };

// Window element (i, j) for output (y, x) is image (y + i - rows_before, x + j - columns_before).
struct FilterWindow {
  int rows = 1, columns = 1;  // each >= 1
  int rows_before = 0, columns_before = 0;
  Border border = Border::kReflect;
  double cval = 0;  // outside the image, for kConstant; representable in the image's type
};

// rows x columns x channels in device memory, row-major. Output and input do not overlap.
struct FilterImage {
  const void* input = nullptr;
  void* output = nullptr;
  long long rows = 0, columns = 0;
  long long first_block = 0;        // blocks of the images before it
  const void* kernel = nullptr;     // dense: window.rows x window.columns weights as given
  double* dense_weights = nullptr;  // dense: DenseWeightCount of them, see PrepareDenseWeights
};

struct FilterTile {
  int rows, columns;  // pixels
};
// Blocks of an image; 0 for an empty one.
long long FilterBlockCount(FilterTile tile, long long rows, long long columns);

struct FilterBatch {
  FilterImage only;                    // the image, where image_count is 1
  const FilterImage* table = nullptr;  // in device memory, elsewhere
  int image_count = 0;
  long long block_count = 0;  // of all images
  int channels = 1;           // each filtered by itself
  PixelType input = PixelType::kUint8, output = PixelType::kUint8;
  FilterWindow window;
  FilterTile tile = {1, 1};  // that block numbers are counted by
};

// What a kernel and its tile are chosen by. Results do not depend on the images' size and number.
struct FilterShape {
  FilterWindow window;
  PixelType input = PixelType::kUint8, output = PixelType::kUint8;
  int channels = 1;
  long long rows = 0, columns = 0;  // of an image
  int images = 1;
};

// ---- Separable: the sum over (i, j) of row_weights[i] * column_weights[j] * element (i, j). Every
// weight counts: 0 times NaN is NaN. Outside the image a constant border is cval for the product of
// both passes. Sums are in float32.
inline constexpr int kMaxSeparableWeights = 128;  // of each axis
struct SeparableWeights {
  float rows[kMaxSeparableWeights];
  float columns[kMaxSeparableWeights];
};
// False where the window is too large, or the image has too many channels: use SeparablePasses.
bool SeparableFits(const FilterWindow& window, int channels);
FilterTile SeparableTile(const FilterShape& shape, const SeparableWeights& weights);
cudaError_t LaunchSeparable(const FilterBatch& batch, const SeparableWeights& weights,
                            cudaStream_t stream);

// The same for any window, in float64, one image (batch.only) at a time. Weights and `scratch`
// (rows * columns * channels doubles) are in device memory. `outside_row` is the sum over j of
// column_weights[j] * cval.
cudaError_t LaunchSeparablePasses(const FilterBatch& batch, const double* row_weights,
                                  const double* column_weights, double outside_row, double* scratch,
                                  cudaStream_t stream);

// ---- Dense: the sum over (i, j) of weight (i, j) * element (i, j), but for weights of 0, whose
// elements take no part. In float32; in float64 where there are more than kMaxFloat32Weights or the
// window is too large for DenseFits, and for a uint8 image whose sums could pass 2^24.
inline constexpr int kMaxFloat32Weights = 256;
bool DenseFits(const FilterWindow& window, int channels);
FilterTile DenseTile(const FilterShape& shape);
// Doubles of FilterImage::dense_weights: first whether sums are in float64 (0 or 1), then weights.
constexpr long long DenseWeightCount(const FilterWindow& window) {
  return 1 + static_cast<long long>(window.rows) * window.columns;
}
enum class Flip : uint8_t { kNo, kBoth };  // on both axes
// Fills dense_weights of every image from its `kernel`.
cudaError_t LaunchPrepareDenseWeights(const FilterBatch& batch, WeightType type, Flip flip,
                                      cudaStream_t stream);
// What is known of the first of all dense_weights.
enum class DenseSums : uint8_t { kFloat32, kFloat64, kEither };
// REQUIRES: dense_weights are filled. kFloat64 where not DenseFits.
cudaError_t LaunchDense(const FilterBatch& batch, DenseSums sums, cudaStream_t stream);

// ---- Rank: the element of rank `rank` of the window, from 0. NaN ranks last; of zeros the
// negative first. Fastest for medians of 3x3 and 5x5 windows, rank floor(count / 2).
FilterTile RankTile(const FilterShape& shape, int rank);
cudaError_t LaunchRank(const FilterBatch& batch, int rank, cudaStream_t stream);

// ---- Extremes: the elements of the first and the last rank.
enum class Extreme : uint8_t { kMinimum, kMaximum };
// Whether there is a kernel that goes over the image once.
bool ExtremeFits(const FilterShape& shape);
// REQUIRES (both): ExtremeFits.
FilterTile ExtremeTile(const FilterShape& shape);
cudaError_t LaunchExtreme(const FilterBatch& batch, Extreme extreme, cudaStream_t stream);
// For any window, one image (batch.only) at a time. `scratch` is as large as the input, in device
// memory.
cudaError_t LaunchExtremePasses(const FilterBatch& batch, Extreme extreme, void* scratch,
                                cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_H_
