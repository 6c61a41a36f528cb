// Correlation with a window of any weights.
#include "kernels/cuda/filter_common.cuh"
#include "kernels/cuda/filter_dense_march.h"

namespace gpucall::cuda {
namespace {

constexpr int kTileRows = 32;
constexpr int kRun = 16;  // outputs that a thread computes, one below the other
constexpr int kTileElements = kFilterThreads / (kTileRows / kRun);
constexpr unsigned kDirectBlocks = 2048;  // of each image
constexpr double kExactInFloat32 = 1 << 24;

__host__ __device__ constexpr int TileColumns(int channels) { return kTileElements / channels; }
__host__ __device__ constexpr int TileElements(const FilterWindow& window, int channels) {
  return (TileColumns(channels) + window.columns - 1) * channels;
}

int SharedBytes(const FilterWindow& window, int channels) {
  const int elements = (kTileRows + window.rows - 1) * TileElements(window, channels);
  return (elements + window.rows * window.columns) * static_cast<int>(sizeof(float));
}

__device__ double WeightAt(const void* weights, WeightType type, int index) {
  switch (type) {
    case WeightType::kUint8:
      return static_cast<const uint8_t*>(weights)[index];
    case WeightType::kInt32:
      return static_cast<const int*>(weights)[index];
    case WeightType::kFloat32:
      return static_cast<const float*>(weights)[index];
    case WeightType::kFloat64:
      return static_cast<const double*>(weights)[index];
  }
  return 0;
}

// A block for each image. `direct`: sums of every image are in float64.
__global__ void __launch_bounds__(kFilterThreads)
    PrepareWeights(const __grid_constant__ FilterBatch batch, WeightType type, bool flip,
                   bool direct) {
  __shared__ double magnitudes[kFilterThreads];
  const FilterImage& image = batch.image_count == 1 ? batch.only : batch.table[blockIdx.x];
  const int count = batch.window.rows * batch.window.columns;
  double magnitude = 0;
  for (int i = threadIdx.x; i < count; i += kFilterThreads) {
    const double weight = WeightAt(image.kernel, type, flip ? count - 1 - i : i);
    image.dense_weights[1 + i] = weight;
    magnitude += fabs(weight);
  }
  magnitudes[threadIdx.x] = magnitude;
  for (int half = kFilterThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) magnitudes[threadIdx.x] += magnitudes[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    const bool exact = batch.input != PixelType::kUint8 || 255 * magnitudes[0] < kExactInFloat32;
    image.dense_weights[0] = direct || !exact ? 1 : 0;
  }
}

// Images whose sums are in float32.
template <class In, class Out>
__global__ void __launch_bounds__(kFilterThreads, 4)
    Dense(const __grid_constant__ FilterBatch batch) {
  extern __shared__ float tile[];
  const FilterImage& image = FindImage(batch);
  if (image.dense_weights[0] != 0) return;
  const FilterWindow& window = batch.window;
  const int elements = TileElements(window, batch.channels);
  const TileOrigin origin = FindTile(image, kTileRows, TileColumns(batch.channels));
  // Column by column, as a thread goes through them.
  float* const weights = tile + (kTileRows + window.rows - 1) * elements;
  for (int i = threadIdx.x; i < window.rows * window.columns; i += kFilterThreads) {
    weights[i % window.columns * window.rows + i / window.columns] =
        static_cast<float>(image.dense_weights[1 + i]);
  }
  ReadTile<In>(batch, image, origin.row - window.rows_before, origin.column - window.columns_before,
               kTileRows + window.rows - 1, elements,
               [&](int row, int e, In value) { tile[row * elements + e] = value; });
  __syncthreads();

  const int element = threadIdx.x % kTileElements, first = threadIdx.x / kTileElements * kRun;
  const long long left = origin.column * batch.channels + element;
  const long long stride = image.columns * batch.channels;
  if (element >= TileColumns(batch.channels) * batch.channels || left >= stride) return;
  float sums[kRun] = {};
  for (int j = 0; j < window.columns; ++j) {
    const float* const column = tile + first * elements + element + j * batch.channels;
    const auto read = [&](int i) { return column[i * elements]; };
    AddTaps<Zeros::kSkip>(weights + j * window.rows, window.rows, read, sums);
  }
  Out* const output = static_cast<Out*>(image.output) + left;
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    const long long row = origin.row + first + i;
    if (row < image.rows) output[row * stride] = ConvertResult<Out>(sums[i]);
  }
}

// Images whose sums are in float64, element by element. Image number blockIdx.y.
template <class In, class Out>
__global__ void __launch_bounds__(kFilterThreads)
    DenseDirect(const __grid_constant__ FilterBatch batch) {
  const FilterImage& image = batch.image_count == 1 ? batch.only : batch.table[blockIdx.y];
  if (image.dense_weights[0] == 0) return;
  const FilterWindow& window = batch.window;
  const long long stride = image.columns * batch.channels, count = image.rows * stride;
  for (long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; e < count;
       e += static_cast<long long>(gridDim.x) * blockDim.x) {
    const long long top = e / stride - window.rows_before;
    const long long left = e % stride / batch.channels - window.columns_before;
    double sum = 0;
    for (int j = 0; j < window.columns; ++j) {
      const Column<In> column(batch, image, left + j, static_cast<int>(e % batch.channels));
      for (int i = 0; i < window.rows; ++i) {
        const double weight = image.dense_weights[1 + i * window.columns + j];
        if (weight != 0) sum = fma(weight, static_cast<double>(column.At(top + i)), sum);
      }
    }
    static_cast<Out*>(image.output)[e] = ConvertResult<Out>(sum);
  }
}

}  // namespace

bool DenseFits(const FilterWindow& window, int channels) {
  return channels <= kTileElements && window.rows * window.columns <= kMaxFloat32Weights &&
         SharedBytes(window, channels) <= kMaxSharedBytes;
}

FilterTile DenseTile(const FilterShape& shape) {
  if (DenseMarches(shape)) return DenseMarchTile(shape);
  return {kTileRows, shape.channels <= kTileElements ? TileColumns(shape.channels) : 1};
}

cudaError_t LaunchPrepareDenseWeights(const FilterBatch& batch, WeightType type, Flip flip,
                                      cudaStream_t stream) {
  return LaunchBlocks(PrepareWeights, dim3(static_cast<unsigned>(batch.image_count)), 0, stream,
                      batch, type, flip == Flip::kBoth, !DenseFits(batch.window, batch.channels));
}

cudaError_t LaunchDense(const FilterBatch& batch, DenseSums sums, cudaStream_t stream) {
  const bool marches = DenseMarches({batch.window, batch.input, batch.output, batch.channels});
  return WithPixelTypes(batch, [&]<class In, class Out>(In, Out) {
    if (sums != DenseSums::kFloat64) {
      const cudaError_t error =
          marches ? LaunchDenseMarch(batch, stream)
                  : LaunchBlocks(Dense<In, Out>, dim3(static_cast<unsigned>(batch.block_count)),
                                 SharedBytes(batch.window, batch.channels), stream, batch);
      if (error != cudaSuccess || sums == DenseSums::kFloat32) return error;
    }
    if (batch.block_count == 0) return cudaSuccess;
    return LaunchBlocks(DenseDirect<In, Out>,
                        dim3(kDirectBlocks, static_cast<unsigned>(batch.image_count)), 0, stream,
                        batch);
  });
}

}  // namespace gpucall::cuda
