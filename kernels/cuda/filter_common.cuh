// What filter kernels share: finding a block's tile, reading past the border, converting results.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_COMMON_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_COMMON_CUH_

#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/cuda/filter.h"

namespace gpucall::cuda {

inline constexpr int kFilterThreads = 256;
// Of dynamic shared memory: what every architecture from 8.0 on has.
inline constexpr int kMaxSharedBytes = 96 << 10;

// The image of this block: the last one that starts at or before it. All threads of a warp take
// part.
__device__ inline const FilterImage& FindImage(const FilterBatch& batch) {
  if (batch.image_count == 1) return batch.only;
  int low = 0;
  for (int size = batch.image_count; size > 1;) {
    const int step = (size + 31) / 32;
    const int at = static_cast<int>(threadIdx.x % 32) * step;
    const bool begun = at < size && batch.table[low + at].first_block <= blockIdx.x;
    const int skipped = (__popc(__ballot_sync(0xffffffffu, begun)) - 1) * step;
    low += skipped;
    size = min(step, size - skipped);
  }
  return batch.table[low];
}

// Tiles of `tile` pixels in `size`: fewer than 2^31.
__device__ inline unsigned TileCount(long long size, int tile) {
  if (size < 1 << 30) return (static_cast<unsigned>(size) + tile - 1) / tile;
  return static_cast<unsigned>((size + tile - 1) / tile);
}

// The first pixel of this block's tile.
struct TileOrigin {
  long long row, column;
};
__device__ inline TileOrigin FindTile(const FilterImage& image, int tile_rows, int tile_columns) {
  // Tiles at the border take longest, so they come first: those of the first column, of the last
  // one, then of the others; of each column the last one, then from the first on.
  const unsigned block = static_cast<unsigned>(blockIdx.x - image.first_block);
  const unsigned across = TileCount(image.columns, tile_columns);
  const unsigned down = TileCount(image.rows, tile_rows);
  const unsigned place = block / down, under = block % down;
  const unsigned column = place == 0 ? 0 : place == 1 ? across - 1 : place - 1;
  const unsigned row = under == 0 ? down - 1 : under - 1;
  return {static_cast<long long>(row) * tile_rows, static_cast<long long>(column) * tile_columns};
}

// Tiles of `columns` pixels across for `blocks` on each multiprocessor at a time: as tall as lets
// all run at once, from 32 to 256 rows.
FilterTile StripTile(const FilterShape& shape, int columns, int blocks);

// BorderIndex of an index further outside than the image is large. Apart, since it is rare and
// long.
__device__ __noinline__ inline long long FarBorderIndex(long long index, long long size,
                                                        Border border) {
  const bool mirror = border == Border::kMirror;
  if (mirror && size == 1) return 0;
  const long long period = border == Border::kWrap ? size : 2 * size - (mirror ? 2 : 0);
  const long long rest = index % period;
  const long long at = rest < 0 ? rest + period : rest;
  return at < size ? at : period - (mirror ? 0 : 1) - at;
}

// Index in 0 .. size-1 that `index` stands for, -1 for the constant.
__device__ inline long long BorderIndex(long long index, long long size, Border border) {
  if (index >= 0 && index < size) return index;
  if (border == Border::kConstant) return -1;
  const bool before = index < 0;
  if (border == Border::kNearest) return before ? 0 : size - 1;
  long long at;
  if (border == Border::kWrap) {
    at = before ? index + size : index - size;
  } else {
    const int edge = border == Border::kReflect ? 1 : 0;
    at = before ? -edge - index : 2 * (size - 1) + edge - index;
  }
  return at >= 0 && at < size ? at : FarBorderIndex(index, size, border);
}

// One column of one channel of an image, continued past the border.
template <class T>
struct Column {
  const T* data;  // its element of row 0; null for a column of the constant
  long long stride, rows;
  Border border;
  T cval;

  // `column` may lie outside of the image.
  __device__ Column(const FilterBatch& batch, const FilterImage& image, long long column,
                    int channel)
      : data(nullptr),
        stride(image.columns * batch.channels),
        rows(image.rows),
        border(batch.window.border),
        cval(static_cast<T>(batch.window.cval)) {
    const long long inside = BorderIndex(column, image.columns, border);
    if (inside >= 0) {
      data = static_cast<const T*>(image.input) + inside * batch.channels + channel;
    }
  }
  // Any row.
  __device__ T At(long long row) const {
    const long long inside = BorderIndex(row, rows, border);
    return data == nullptr || inside < 0 ? cval : data[inside * stride];
  }
  // A row of the image.
  __device__ T AtInside(long long row) const { return data == nullptr ? cval : data[row * stride]; }
  __device__ bool IsInside(long long first, int count) const {
    return first >= 0 && first + count <= rows;
  }
};

// Calls put(row, element, value) for all elements of a part of the image that starts at row `top`
// and column `left` and may reach past the border. All threads of the block take part.
template <class T, class Put>
__device__ void ReadTile(const FilterBatch& batch, const FilterImage& image, long long top,
                         long long left, int rows, int elements, Put put) {
  constexpr int kAcross = 128, kDown = kFilterThreads / kAcross;
  for (int e = threadIdx.x % kAcross; e < elements; e += kAcross) {
    const Column<T> column(batch, image, left + e / batch.channels, e % batch.channels);
    const int first = threadIdx.x / kAcross;
    if (column.IsInside(top, rows)) {
#pragma unroll 4
      for (int r = first; r < rows; r += kDown) put(r, e, column.AtInside(top + r));
    } else {
      for (int r = first; r < rows; r += kDown) put(r, e, column.At(top + r));
    }
  }
}

// To uint8: nearest, halves to even, saturating; NaN gives 0.
template <class Out, class Sum>
__device__ Out ConvertResult(Sum sum) {
  if constexpr (std::is_same_v<Out, unsigned char> && std::is_same_v<Sum, float>) {
    return static_cast<unsigned char>(min(__float2uint_rn(sum), 255u));
  } else if constexpr (std::is_same_v<Out, unsigned char> && std::is_same_v<Sum, double>) {
    return static_cast<unsigned char>(min(__double2uint_rn(sum), 255u));
  } else {
    return static_cast<Out>(sum);
  }
}

// Adds weights[t] * read(i + t) over t < taps to sums[i]. What is read stays in registers while it
// is of use: read is called kRun + taps - 1 times. kSkipZeros: weights of 0 take no part.
enum class Zeros { kCount, kSkip };
template <Zeros kZeros, int kRun, class Read>
__device__ void AddTaps(const float* weights, int taps, Read read, float (&sums)[kRun]) {
  constexpr int kStep = 4;
  float window[kRun - 1 + kStep];
#pragma unroll
  for (int i = 0; i < kRun - 1; ++i) window[i] = read(i);
  for (int t = 0; t < taps; t += kStep) {
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      window[kRun - 1 + u] = t + u < taps ? read(kRun - 1 + t + u) : 0.0f;
    }
#pragma unroll
    for (int u = 0; u < kStep; ++u) {
      if (t + u >= taps) break;
      const float weight = weights[t + u];
      if (kZeros == Zeros::kSkip && weight == 0) continue;
#pragma unroll
      for (int i = 0; i < kRun; ++i) sums[i] = fmaf(weight, window[i + u], sums[i]);
    }
#pragma unroll
    for (int i = 0; i < kRun - 1; ++i) window[i] = window[i + kStep];
  }
}

// Calls launch(In{}, Out{}) with elements of the batch's types.
template <class Launch>
cudaError_t WithPixelTypes(const FilterBatch& batch, Launch launch) {
  const bool from_uint8 = batch.input == PixelType::kUint8;
  const bool to_uint8 = batch.output == PixelType::kUint8;
  if (from_uint8 && to_uint8) return launch(uint8_t{}, uint8_t{});
  if (from_uint8) return launch(uint8_t{}, float{});
  if (to_uint8) return launch(float{}, uint8_t{});
  return launch(float{}, float{});
}

// Launches `kernel` with one block for each of `block_count`, none where that is 0.
template <class... Parameters, class... Arguments>
cudaError_t LaunchBlocks(void (*kernel)(Parameters...), dim3 blocks, size_t shared_bytes,
                         cudaStream_t stream, const Arguments&... arguments) {
  if (blocks.x == 0 || blocks.y == 0) return cudaSuccess;
  // Past 48 KiB, static shared memory included, a kernel must ask. Always for the same amount:
  // lanes launch the same kernels at the same time.
  if (shared_bytes > size_t{40} << 10) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMaxSharedBytes);
    if (error != cudaSuccess) return error;
  }
  kernel<<<blocks, kFilterThreads, shared_bytes, stream>>>(arguments...);
  return cudaGetLastError();
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_COMMON_CUH_
