// Medians of 3x3 and 5x5 windows by exchanges in registers.
#include "kernels/cuda/filter_rank.cuh"

#define GPUCALL_FN __device__ __forceinline__
#include "kernels/cuda/median_network.h"

namespace gpucall::cuda {
namespace {

constexpr int kWordRows = 32;  // of a tile's words that have results
constexpr int kRun = 8;        // words that a thread finds the medians of at a time
constexpr int kTileElements = 128;
constexpr int kMaxChannels = 32;

// A word of the tile in shared memory holds one float32 key, or two uint8 keys: those of the tile's
// rows r and r + kWordRows, which are exchanged at once.
template <class In>
struct Words;

template <>
struct Words<float> {
  static constexpr int kRows = kWordRows;
  static __device__ uint32_t Min(uint32_t a, uint32_t b) { return min(a, b); }
  static __device__ uint32_t Max(uint32_t a, uint32_t b) { return max(a, b); }
  static __device__ void Put(uint32_t* word, int, int, int, float value) { *word = KeyOf(value); }
  template <class Out>
  static __device__ Out Result(uint32_t word, int) {
    return ResultOf<Out>(word);
  }
};

template <>
struct Words<uint8_t> {
  static constexpr int kRows = 2 * kWordRows;
  static __device__ uint32_t Min(uint32_t a, uint32_t b) { return __vminu2(a, b); }
  static __device__ uint32_t Max(uint32_t a, uint32_t b) { return __vmaxu2(a, b); }
  // `word` is that of tile row `row`, `elements` words below that of the row before.
  static __device__ void Put(uint32_t* word, int elements, int row, int word_rows, uint8_t value) {
    auto* const halves = reinterpret_cast<uint16_t*>(word);
    if (row < word_rows) halves[0] = value;
    if (row >= kWordRows) halves[1 - 2 * kWordRows * elements] = value;
  }
  template <class Out>
  static __device__ Out Result(uint32_t word, int half) {
    return static_cast<Out>(word >> 16 * half & 0xff);
  }
};

__host__ __device__ constexpr int TileColumns(int channels) { return kTileElements / channels; }
__host__ __device__ constexpr int TileElements(int side, int channels) {
  return (TileColumns(channels) + side - 1) * channels;
}

// Medians of the windows that start at `words` and at the kRun - 1 words below it.
template <class Ops, int kSide>
__device__ void FindMedians(const uint32_t* words, int elements, int channels,
                            uint32_t (&medians)[kRun]) {
  uint32_t rows[kRun + kSide - 1][kSide];
#pragma unroll
  for (int r = 0; r < kRun + kSide - 1; ++r) {
#pragma unroll
    for (int j = 0; j < kSide; ++j) rows[r][j] = words[r * elements + j * channels];
    Sort<Ops>(rows[r]);
  }
#pragma unroll
  for (int m = 0; m < kRun; ++m) {
    uint32_t window[kSide][kSide];
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
      for (int j = 0; j < kSide; ++j) window[i][j] = rows[m + i][j];
    }
    medians[m] = MedianOfSortedRows<Ops>(window);
  }
}

template <class In, class Out, int kSide>
__global__ void __launch_bounds__(kFilterThreads)
    MedianNetwork(const __grid_constant__ FilterBatch batch) {
  using Ops = Words<In>;
  constexpr int kTileWordRows = kWordRows + kSide - 1;
  extern __shared__ uint32_t tile[];
  const FilterImage& image = FindImage(batch);
  const int channels = batch.channels, elements = TileElements(kSide, channels);
  const TileOrigin origin = FindTile(image, Ops::kRows, TileColumns(channels));
  ReadTile<In>(batch, image, origin.row - batch.window.rows_before,
               origin.column - batch.window.columns_before, Ops::kRows + kSide - 1, elements,
               [&](int row, int e, In value) {
                 Ops::Put(tile + row * elements + e, elements, row, kTileWordRows, value);
               });
  __syncthreads();

  const int element = threadIdx.x % kTileElements;
  const long long left = origin.column * channels + element;
  const long long stride = image.columns * channels;
  if (element >= TileColumns(channels) * channels || left >= stride) return;
  constexpr int kRows = kWordRows / (kFilterThreads / kTileElements);  // of a thread
  const int first = threadIdx.x / kTileElements * kRows;
  for (int at = first; at < first + kRows; at += kRun) {
    uint32_t medians[kRun];
    FindMedians<Ops, kSide>(tile + at * elements + element, elements, channels, medians);
#pragma unroll
    for (int half = 0; half < Ops::kRows / kWordRows; ++half) {
#pragma unroll
      for (int m = 0; m < kRun; ++m) {
        const long long row = origin.row + half * kWordRows + at + m;
        if (row < image.rows) {
          static_cast<Out*>(image.output)[row * stride + left] =
              Ops::template Result<Out>(medians[m], half);
        }
      }
    }
  }
}

bool IsMedian(const FilterWindow& window, int rank) {
  return rank == window.rows * window.columns / 2;
}
// Whether there is a network for any place of the window.
bool HasNetwork(const FilterShape& shape, int rank) {
  const FilterWindow& window = shape.window;
  const bool square = window.rows == window.columns && (window.rows == 3 || window.rows == 5);
  return IsMedian(window, rank) && square && shape.channels <= kMaxChannels;
}

template <class In, class Out, int kSide>
cudaError_t LaunchNetwork(const FilterBatch& batch, cudaStream_t stream) {
  const int words = (kWordRows + kSide - 1) * TileElements(kSide, batch.channels);
  return LaunchBlocks(MedianNetwork<In, Out, kSide>, dim3(static_cast<unsigned>(batch.block_count)),
                      words * sizeof(uint32_t), stream, batch);
}

}  // namespace

FilterTile RankTile(const FilterShape& shape, int rank) {
  if (IsMedian(shape.window, rank) && MedianMarches(shape)) return MedianMarchTile(shape);
  if (HasNetwork(shape, rank)) {
    return {shape.input == PixelType::kUint8 ? Words<uint8_t>::kRows : Words<float>::kRows,
            TileColumns(shape.channels)};
  }
  return RankCountsColumns(shape) ? RankColumnsTile(shape) : RankSelectTile(shape.channels);
}

cudaError_t LaunchRank(const FilterBatch& batch, int rank, cudaStream_t stream) {
  const FilterShape shape = {batch.window, batch.input, batch.output, batch.channels};
  if (IsMedian(batch.window, rank) && MedianMarches(shape)) return LaunchMedianMarch(batch, stream);
  if (HasNetwork(shape, rank)) {
    return WithPixelTypes(batch, [&]<class In, class Out>(In, Out) {
      return batch.window.rows == 3 ? LaunchNetwork<In, Out, 3>(batch, stream)
                                    : LaunchNetwork<In, Out, 5>(batch, stream);
    });
  }
  return RankCountsColumns(shape) ? LaunchRankColumns(batch, rank, stream)
                                  : LaunchRankSelect(batch, rank, stream);
}

}  // namespace gpucall::cuda
