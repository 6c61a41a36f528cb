// Filters that march: each warp goes down a strip of the image row by row, each lane over a run of
// neighbouring elements. Rows are read once from memory; what a lane needs of its neighbours comes
// from the first-level cache, and what later rows need stays in registers.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_MARCH_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_MARCH_CUH_

#include "kernels/cuda/filter_readers.cuh"

namespace gpucall::cuda {

// Warps of a block, side by side: of whole pixels.
template <int kChannels>
inline constexpr int kMarchWarps = kChannels == 3 ? 3 : 2;
constexpr bool MarchesChannels(int channels) {
  return channels == 1 || channels == 3 || channels == 4;
}

// Elements of a lane's run, for kernels that keep `rows` runs in registers.
template <class In>
constexpr int MarchRun(int rows) {
  return std::is_same_v<In, uint8_t> && rows <= 5 ? 8 : 4;
}

// Rows that are read ahead.
template <class In>
constexpr int MarchDepth(int taps, int channels) {
  if (std::is_same_v<In, uint8_t>) return taps <= 5 ? 3 : 2;
  return taps * channels <= 9 ? 3 : 2;
}

// Blocks on a multiprocessor that leave each lane `registers`.
constexpr int BlocksOf(int registers, int channels) {
  const int blocks = 65536 / (32 * (channels == 3 ? 3 : 2)) / registers;
  return blocks < 1 ? 1 : blocks > 12 ? 12 : blocks;
}
// Of kernels that keep `rows` runs and `other` registers more.
template <class In>
constexpr int MarchBlocks(int taps, int channels, int run, int rows, int other = 0) {
  const int window = run + 2 * RoundUpTo4(taps / 2 * channels);
  const bool bytes = std::is_same_v<In, uint8_t>;
  const int ahead = MarchDepth<In>(taps, channels) * (bytes ? window / 4 : window);
  constexpr int kAddresses = 36;
  return BlocksOf(rows * run + ahead + (bytes ? window : 0) + other + kAddresses, channels);
}

// Tiles for `blocks` on each multiprocessor at a time: as many as there is room for, or a small
// multiple, since the first rows of each are read twice. An even number of rows.
FilterTile MarchTile(const FilterShape& shape, int run, int blocks);

// Calls use(whole, window, results) for each row to read; `whole` once the window is, from row
// number `lag` on. Then stores what it leaves in `results`, from the row of `output` on. Rows are
// read kDepth ahead.
template <int kDepth, int kRun, class In, class Out, class Reader, class Use>
__device__ void MarchRows(const March<In>& march, Reader reader, int lag, Out output, Use use) {
  typename Reader::Raw raw[kDepth];
#pragma unroll
  for (int d = 0; d < kDepth; ++d) reader.Load(march, d, raw[d]);
  for (int top = 0; top < march.row_count; top += kDepth) {
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      const int i = top + d;
      typename Reader::Element window[4 * Reader::kQuads];
      reader.Window(raw[d], i, window);
      typename Reader::Element results[kRun];
      use(i >= lag, window, results);
      // After the row's last use: sooner, and it would be copied, which waits for the load.
      reader.Load(march, i + kDepth, raw[d]);
      if (i >= lag && i < march.row_count) {
        reader.Store(march, output, results, i - lag);
        output += march.stride;
      }
    }
  }
}

// The warp's part of its block's tile.
template <class In, int kChannels, int kRun>
__device__ March<In> MakeMarch(const FilterBatch& batch, const FilterImage& image,
                               TileOrigin origin) {
  const int lag = batch.window.rows - 1;
  March<In> march;
  march.input = static_cast<const In*>(image.input);
  march.stride = image.columns * kChannels;
  march.rows = image.rows;
  march.row = origin.row - batch.window.rows_before;
  march.row_count =
      static_cast<int>(min(image.rows - origin.row, static_cast<long long>(batch.tile.rows))) + lag;
  march.element = origin.column * kChannels + static_cast<int>(threadIdx.x / 32) * 32 * kRun;
  march.border = batch.window.border;
  march.cval = static_cast<In>(batch.window.cval);
  return march;
}

// For a PairReader, whose rows are half a tile apart.
template <class In>
__device__ bool IsWholeTile(const March<In>& march, const FilterBatch& batch) {
  return march.row_count == batch.tile.rows + batch.window.rows - 1;
}
template <class In>
__device__ March<In> UpperHalf(March<In> march, const FilterBatch& batch) {
  march.row_count = min(march.row_count, batch.tile.rows / 2 + batch.window.rows - 1);
  return march;
}

template <int kChannels, class... Parameters, class... Arguments>
cudaError_t LaunchMarch(void (*kernel)(FilterBatch, Parameters...), const FilterBatch& batch,
                        cudaStream_t stream, const Arguments&... arguments) {
  if (batch.block_count == 0) return cudaSuccess;
  kernel<<<static_cast<unsigned>(batch.block_count), 32 * kMarchWarps<kChannels>, 0, stream>>>(
      batch, arguments...);
  return cudaGetLastError();
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_MARCH_CUH_
