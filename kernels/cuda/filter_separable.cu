// Separable filters of any window and channels, both passes in one kernel: down the rows from
// global memory to registers to shared memory, then along the columns from there.
#include "kernels/cuda/filter_box.h"
#include "kernels/cuda/filter_common.cuh"
#include "kernels/cuda/filter_separable_march.h"

namespace gpucall::cuda {
namespace {

constexpr int kTileRows = 32;  // a lane each in the second pass
constexpr int kRun = 16;       // outputs that a thread computes at a time
constexpr int kWarps = kFilterThreads / 32;

// Pixels across a tile: runs of all channels keep at most one warp each busy.
__host__ __device__ constexpr int TileColumns(int channels) {
  return channels <= kWarps ? kRun * (kWarps / channels) : kRun;
}

// Elements of a row of the tile in shared memory: odd, so that a column's are in different banks.
__host__ __device__ constexpr int Pitch(int elements) { return elements | 1; }

int SharedBytes(const FilterWindow& window, int channels) {
  const int elements = (TileColumns(channels) + window.columns - 1) * channels;
  return kTileRows * Pitch(elements) * static_cast<int>(sizeof(float));
}

// Fills `tile` with sums down the rows for `elements` of each of the tile's rows. `offsets` is
// shared memory for where the rows that the tile reads start in the image.
template <class In>
__device__ void SumRows(const FilterBatch& batch, const FilterImage& image,
                        const SeparableWeights& weights, TileOrigin origin, int elements,
                        long long* offsets, float* tile) {
  const FilterWindow& window = batch.window;
  const long long top = origin.row - window.rows_before;
  const int row_count = kTileRows + window.rows - 1;
  const bool inside = top >= 0 && top + row_count <= image.rows;
  if (!inside) {
    for (int r = threadIdx.x; r < row_count; r += kFilterThreads) {
      const long long row = BorderIndex(top + r, image.rows, window.border);
      offsets[r] = row < 0 ? -1 : row * image.columns * batch.channels;
    }
    __syncthreads();
  }
  for (int item = threadIdx.x; item < kTileRows / kRun * elements; item += kFilterThreads) {
    const int first = item / elements * kRun;
    const int element = item % elements;
    const Column<In> column(batch, image,
                            origin.column - window.columns_before + element / batch.channels,
                            element % batch.channels);
    float sums[kRun] = {};
    if (column.data == nullptr) {
      const auto read = [&](int) { return static_cast<float>(column.cval); };
      AddTaps<Zeros::kCount>(weights.rows, window.rows, read, sums);
    } else if (inside) {
      const In* const data = column.data + (top + first) * column.stride;
      const auto read = [&](int i) { return static_cast<float>(data[i * column.stride]); };
      AddTaps<Zeros::kCount>(weights.rows, window.rows, read, sums);
    } else {
      const auto read = [&](int i) {
        const long long offset = offsets[first + i];
        return static_cast<float>(offset < 0 ? column.cval : column.data[offset]);
      };
      AddTaps<Zeros::kCount>(weights.rows, window.rows, read, sums);
    }
#pragma unroll
    for (int i = 0; i < kRun; ++i) tile[(first + i) * Pitch(elements) + element] = sums[i];
  }
}

// Replaces the first TileColumns pixels of each of the tile's rows by sums along it.
__device__ void SumColumns(const FilterBatch& batch, const SeparableWeights& weights, int elements,
                           float* tile) {
  const int channels = batch.channels;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool works = warp < TileColumns(channels) / kRun * channels;
  float* const run =
      tile + lane * Pitch(elements) + warp / channels * kRun * channels + warp % channels;
  float sums[kRun] = {};
  if (works) {
    const auto read = [&](int i) { return run[i * channels]; };
    AddTaps<Zeros::kCount>(weights.columns, batch.window.columns, read, sums);
  }
  __syncthreads();
  if (works) {
#pragma unroll
    for (int i = 0; i < kRun; ++i) run[i * channels] = sums[i];
  }
}

template <class In, class Out>
__global__ void __launch_bounds__(kFilterThreads, 4)
    Separable(const __grid_constant__ FilterBatch batch,
              const __grid_constant__ SeparableWeights weights) {
  extern __shared__ float tile[];
  __shared__ long long offsets[kTileRows + kMaxSeparableWeights - 1];
  const FilterImage& image = FindImage(batch);
  const int channels = batch.channels, columns = TileColumns(channels);
  const TileOrigin origin = FindTile(image, kTileRows, columns);
  const int elements = (columns + batch.window.columns - 1) * channels;
  SumRows<In>(batch, image, weights, origin, elements, offsets, tile);
  __syncthreads();
  SumColumns(batch, weights, elements, tile);
  __syncthreads();

  const int rows =
      static_cast<int>(min(image.rows - origin.row, static_cast<long long>(kTileRows)));
  const int count = channels * static_cast<int>(min(image.columns - origin.column,
                                                    static_cast<long long>(columns)));
  const long long stride = image.columns * channels;
  Out* const output =
      static_cast<Out*>(image.output) + origin.row * stride + origin.column * channels;
  for (int row = threadIdx.x / 32; row < rows; row += kWarps) {
    for (int e = threadIdx.x % 32; e < count; e += 32) {
      output[row * stride + e] = ConvertResult<Out>(tile[row * Pitch(elements) + e]);
    }
  }
}

}  // namespace

long long FilterBlockCount(FilterTile tile, long long rows, long long columns) {
  return (rows + tile.rows - 1) / tile.rows * ((columns + tile.columns - 1) / tile.columns);
}

bool SeparableFits(const FilterWindow& window, int channels) {
  return channels <= kWarps && window.rows <= kMaxSeparableWeights &&
         window.columns <= kMaxSeparableWeights && SharedBytes(window, channels) <= kMaxSharedBytes;
}

FilterTile SeparableTile(const FilterShape& shape, const SeparableWeights& weights) {
  if (IsBox(shape, weights)) return BoxTile(shape);
  if (SeparableMarches(shape)) return SeparableMarchTile(shape);
  return {kTileRows, TileColumns(shape.channels)};
}

cudaError_t LaunchSeparable(const FilterBatch& batch, const SeparableWeights& weights,
                            cudaStream_t stream) {
  const FilterShape shape = {batch.window, batch.input, batch.output, batch.channels};
  if (IsBox(shape, weights)) return LaunchBox(batch, weights, stream);
  if (SeparableMarches(shape)) {
    return LaunchSeparableMarch(batch, weights, stream);
  }
  return WithPixelTypes(batch, [&]<class In, class Out>(In, Out) {
    return LaunchBlocks(Separable<In, Out>, dim3(static_cast<unsigned>(batch.block_count)),
                        SharedBytes(batch.window, batch.channels), stream, batch, weights);
  });
}

}  // namespace gpucall::cuda
