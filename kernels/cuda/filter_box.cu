// Separable filters of equal weights, whose sums run on: down the rows by the row that comes and
// the row that goes, then along the columns likewise. A block goes down a strip of the image by
// kChunkRows at a time.
#include "kernels/cuda/filter_box.h"
#include "kernels/cuda/filter_common.cuh"

namespace gpucall::cuda {
namespace {

constexpr int kChunkRows = 32;  // a lane each where sums go along the columns
constexpr int kWarps = kFilterThreads / 32;
constexpr int kPitch = kFilterThreads + 1;  // so that a column's sums are in different banks

// Pixels that a warp sums along a row; a thread each sums down the rows.
__host__ __device__ constexpr int RunOf(const FilterWindow& window) {
  return (kFilterThreads - window.columns + 1) / kWarps;
}

// Sums down the rows: exact, or as good as.
template <class In>
using Sum = std::conditional_t<std::is_same_v<In, uint8_t>, int, double>;
// Along the columns. Floats are weighted before, so that no sum overflows that need not.
template <class In>
using Part = std::conditional_t<std::is_same_v<In, uint8_t>, int, float>;

__device__ inline int PartOf(int sum, double) { return sum; }
__device__ inline float PartOf(double sum, double weight) {
  return static_cast<float>(sum * weight);
}
__device__ inline bool IsFinite(int) { return true; }
__device__ inline bool IsFinite(float part) { return isfinite(part); }
__device__ inline float ResultOf(int sum, double weight) {
  return static_cast<float>(sum * weight);
}
__device__ inline float ResultOf(float sum, double) { return sum; }

// One column of the strip, and the sum over the window's rows but for the one to come.
template <class In>
struct RunningColumn {
  Column<In> column;
  int window_rows;
  double weight;
  Sum<In> sum;

  __device__ Sum<In> SumOf(long long row, int count) const {
    Sum<In> total = 0;
#pragma unroll 4
    for (int i = 0; i < count; ++i) total += column.At(row + i);
    return total;
  }
  __device__ void Start(long long top) { sum = SumOf(top, window_rows - 1); }
  // Writes the sums of `rows` windows, the first from image row `top` on, kPitch apart. False where
  // one is not finite: what follows is wrong. REQUIRES: Start(top), or rows down to `top` are run.
  __device__ bool Run(long long top, int rows, Part<In>* sums) {
    bool finite = true;
    const auto step = [&](int r, In comes, In goes) {
      sum += comes;
      const Part<In> part = PartOf(sum, weight);
      finite &= IsFinite(part);
      sums[r * kPitch] = part;
      sum -= goes;
    };
    if (column.IsInside(top, rows + window_rows - 1)) {
#pragma unroll 8
      for (int r = 0; r < rows; ++r) {
        step(r, column.AtInside(top + r + window_rows - 1), column.AtInside(top + r));
      }
    } else {
      for (int r = 0; r < rows; ++r) {
        step(r, column.At(top + r + window_rows - 1), column.At(top + r));
      }
    }
    return finite;
  }
  __device__ void RunAnew(long long top, int rows, Part<In>* sums) const {
    for (int r = 0; r < rows; ++r) {
      sums[r * kPitch] = PartOf(SumOf(top + r, window_rows), weight);
    }
  }
};

// The sums of `count` windows along a row. `anew`: each by itself.
template <class T>
__device__ void SumAlong(const T* row, int columns, int count, bool anew, T* sums) {
  T sum = 0;
  for (int first = 0; first < columns; first += 8) {  // in parts, for accuracy
    T part = 0;
#pragma unroll
    for (int j = first; j < first + 8; ++j) part += j < columns ? row[j] : T{0};
    sum += part;
  }
  sums[0] = sum;
  for (int i = 1; i < count; ++i) {
    if (anew) {
      sum = 0;
      for (int j = 0; j < columns; ++j) sum += row[i + j];
    } else {
      sum += row[i + columns - 1] - row[i - 1];
    }
    sums[i] = sum;
  }
}

template <class In, class Out>
__global__ void __launch_bounds__(kFilterThreads, 3)
    Box(const __grid_constant__ FilterBatch batch, double weight) {
  using T = Part<In>;
  extern __shared__ float shared[];
  auto* const sums = reinterpret_cast<T*>(shared);
  T* const results = sums + kChunkRows * kPitch;
  const FilterImage& image = FindImage(batch);
  const FilterWindow& window = batch.window;
  const TileOrigin origin = FindTile(image, batch.tile.rows, batch.tile.columns);
  const int x = static_cast<int>(threadIdx.x), warp = x / 32, lane = x % 32;
  const int run = RunOf(window);
  const bool reads = x < run * kWarps + window.columns - 1;
  const bool writes = x < run * kWarps && origin.column + x < image.columns;
  const int rows =
      static_cast<int>(min(image.rows - origin.row, static_cast<long long>(batch.tile.rows)));
  const long long top = origin.row - window.rows_before;
  RunningColumn<In> column = {
      {batch, image, origin.column - window.columns_before + x, 0}, window.rows, weight, 0};
  if (reads) column.Start(top);
  Out* output = static_cast<Out*>(image.output) + origin.row * image.columns + origin.column + x;
  for (int first = 0; first < rows; first += kChunkRows) {
    const int count = min(rows - first, kChunkRows);
    const bool finite = !reads || column.Run(top + first, count, sums + x);
    const bool anew = __syncthreads_or(!finite);
    if (anew) {
      if (reads) column.RunAnew(top + first, count, sums + x);
      if (reads && first + kChunkRows < rows) column.Start(top + first + kChunkRows);
      __syncthreads();
    }
    if (lane < count) {
      SumAlong(sums + lane * kPitch + warp * run, window.columns, run, anew,
               results + lane * kPitch + warp * run);
    }
    __syncthreads();
    if (!writes) continue;
    for (int r = 0; r < count; ++r) {
      *output = ConvertResult<Out>(ResultOf(results[r * kPitch + x], weight));
      output += image.columns;
    }
  }
}

}  // namespace

bool IsBox(const FilterShape& shape, const SeparableWeights& weights) {
  constexpr int kLeast = 24;  // smaller ones are faster otherwise
  constexpr int kMost = kMaxSeparableWeights;
  const FilterWindow& window = shape.window;
  const auto equal = [](const float* first, int count) {
    for (int i = 1; i < count; ++i) {
      if (first[i] != first[0]) return false;
    }
    return true;
  };
  return shape.channels == 1 && window.rows >= kLeast && window.columns >= kLeast &&
         window.rows <= kMost && window.columns <= kMost && equal(weights.rows, window.rows) &&
         equal(weights.columns, window.columns);
}

FilterTile BoxTile(const FilterShape& shape) {
  return StripTile(shape, RunOf(shape.window) * kWarps, 3);
}

cudaError_t LaunchBox(const FilterBatch& batch, const SeparableWeights& weights,
                      cudaStream_t stream) {
  return WithPixelTypes(batch, [&]<class In, class Out>(In, Out) {
    return LaunchBlocks(Box<In, Out>, dim3(static_cast<unsigned>(batch.block_count)),
                        2 * kChunkRows * kPitch * sizeof(float), stream, batch,
                        static_cast<double>(weights.rows[0]) * weights.columns[0]);
  });
}

}  // namespace gpucall::cuda
