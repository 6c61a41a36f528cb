// Medians of 3x3, 5x5 and 7x7 windows of one channel: see filter_march.cuh. Columns are sorted once
// for all windows that hold them, and pairs of columns are merged once.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_MEDIAN_MARCH_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_MEDIAN_MARCH_CUH_

#include "kernels/cuda/filter_march.cuh"
#include "kernels/cuda/filter_rank.cuh"

#ifndef GPUCALL_FN
#define GPUCALL_FN __device__ __forceinline__
#endif
#include "kernels/cuda/median_network.h"

namespace gpucall::cuda {

inline constexpr int kMedianRun = kMedianWindows;
constexpr int MedianBlocks(int side) { return side == 3 ? 11 : side == 5 ? 7 : 4; }

// How elements are compared. As they are: wrong where there is NaN.
struct AsFloats {
  using Word = float;
  static __device__ Word Of(float value) { return value; }
  static __device__ float Element(Word word) { return word; }
  static __device__ Word Min(Word a, Word b) { return fminf(a, b); }
  static __device__ Word Max(Word a, Word b) { return fmaxf(a, b); }
};
struct AsPairs {  // two uint8
  using Word = uint32_t;
  static __device__ Word Of(Word word) { return word; }
  static __device__ Word Element(Word word) { return word; }
  static __device__ Word Min(Word a, Word b) { return __vminu2(a, b); }
  static __device__ Word Max(Word a, Word b) { return __vmaxu2(a, b); }
};
struct AsKeys {
  using Word = uint32_t;
  static __device__ Word Of(float value) { return KeyOf(value); }
  static __device__ float Element(Word word) { return ElementOf(word); }
  static __device__ Word Min(Word a, Word b) { return min(a, b); }
  static __device__ Word Max(Word a, Word b) { return max(a, b); }
};

// False where a median may be wrong: elements are compared as floats, and one is not finite.
template <class Ops, int kSide, int kDepth, class Reader, class In, class Out>
__device__ bool MarchMedian(const March<In>& march, Out* output, const Reader& reader) {
  using Word = typename Ops::Word;
  constexpr bool kCheck = std::is_same_v<In, float> && std::is_same_v<Ops, AsFloats>;
  constexpr int kColumns = kMedianRun + kSide - 1;
  Word above[kSide - 1][kColumns] = {};  // the rows before
  float finite = 0;
  using Element = typename Reader::Element;
  const auto use = [&](bool whole, const Element(&window)[4 * Reader::kQuads],
                       Element(&results)[kMedianRun]) {
    Word columns[kColumns][kSide];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const Element element = window[Reader::kFirst + c];
      if constexpr (kCheck) finite = fmaf(element, 0.0f, finite);
#pragma unroll
      for (int i = 0; i < kSide - 1; ++i) columns[c][i] = above[i][c];
      columns[c][kSide - 1] = Ops::Of(element);
#pragma unroll
      for (int i = 0; i + 1 < kSide - 1; ++i) above[i][c] = above[i + 1][c];
      above[kSide - 2][c] = columns[c][kSide - 1];
    }
    if (!whole) return;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) Sort<Ops>(columns[c]);
    Word medians[kMedianRun];
    MediansOfColumns<Ops>(columns, medians);
#pragma unroll
    for (int e = 0; e < kMedianRun; ++e) results[e] = Ops::Element(medians[e]);
  };
  MarchRows<kDepth, kMedianRun>(march, reader, kSide - 1, output, use);
  return !kCheck || !__any_sync(0xffffffffu, finite != 0);
}

template <class T, Place kPlace, int kBeside>
using MedianReader = std::conditional_t<std::is_same_v<T, float>,
                                        QuadReader<kPlace, float, kMedianRun, kBeside, kBeside>,
                                        PairReader<kPlace, kMedianRun, kBeside, kBeside>>;

template <class T, int kSide>
__global__ void __launch_bounds__(32 * kMarchWarps<1>, MedianBlocks(kSide))
    MedianMarch(const __grid_constant__ FilterBatch batch) {
  constexpr int kBeside = kSide / 2, kDepth = kSide == 3 ? 3 : kSide == 5 ? 2 : 1;
  using Inside = MedianReader<T, Place::kInside, kBeside>;
  using Anywhere = MedianReader<T, Place::kAnywhere, kBeside>;
  __shared__ typename Inside::Shared shared[kMarchWarps<1>];
  const FilterImage& image = FindImage(batch);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const TileOrigin origin = FindTile(image, batch.tile.rows, batch.tile.columns);
  const auto march = MakeMarch<T, 1, kMedianRun>(batch, image, origin);
  if (march.element >= march.stride) return;
  T* const output =
      static_cast<T*>(image.output) + origin.row * march.stride + march.element + lane * kMedianRun;
  const bool inside = kSide <= 5 && Inside::IsInside(march, image.output);
  if constexpr (std::is_same_v<T, float>) {
    if constexpr (kSide <= 5) {  // the largest network is compiled once
      if (inside) {
        const Inside reader(march, 1, image.output, shared[warp], lane);
        if (MarchMedian<AsFloats, kSide, kDepth>(march, output, reader)) return;
      }
    }
    const Anywhere reader(march, 1, image.output, shared[warp], lane);
    MarchMedian<AsKeys, kSide, kSlowDepth>(march, output, reader);
  } else {
    const March<T> upper = UpperHalf(march, batch);
    const int apart = batch.tile.rows / 2;
    const long long rows = image.rows - origin.row;
    if constexpr (kSide <= 5) {
      if (inside && IsWholeTile(march, batch)) {
        const Inside reader(upper, 1, image.output, apart, rows, shared[warp], lane);
        MarchMedian<AsPairs, kSide, kDepth>(upper, output, reader);
        return;
      }
    }
    const Anywhere reader(upper, 1, image.output, apart, rows, shared[warp], lane);
    MarchMedian<AsPairs, kSide, kSlowDepth>(upper, output, reader);
  }
}

// Compiled by itself.
template <class T>
cudaError_t LaunchMedian7(const FilterBatch& batch, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_MEDIAN_MARCH_CUH_
