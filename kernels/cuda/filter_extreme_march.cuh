// Extremes in square windows of odd side around their middle: see filter_march.cuh. Extremes move
// down by a row as each row is compared with them.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_EXTREME_MARCH_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_EXTREME_MARCH_CUH_

#include "kernels/cuda/filter_extreme_march.h"
#include "kernels/cuda/filter_march.cuh"

namespace gpucall::cuda {

// NaN ranks last; -0 before 0.
template <Extreme kExtreme>
__device__ float Choose(float a, float b) {
  if constexpr (kExtreme == Extreme::kMinimum) return fminf(a, b);
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}

// Two uint8.
template <Extreme kExtreme>
__device__ uint32_t Choose(uint32_t a, uint32_t b) {
  return kExtreme == Extreme::kMinimum ? __vminu2(a, b) : __vmaxu2(a, b);
}

// found[e] = the extreme of values[kFirst + e + j * kStep] over j < kTaps.
template <Extreme kExtreme, int kTaps, int kStep, int kFirst, class Word, int kRun, int kCount>
__device__ void ChooseAlong(const Word (&values)[kCount], Word (&found)[kRun]) {
  if constexpr (kStep == 1 && kTaps > kRun) {
    // What all windows share, then what lies before and after it.
    Word shared = values[kFirst + kRun - 1];
#pragma unroll
    for (int i = kRun; i < kTaps; ++i) shared = Choose<kExtreme>(shared, values[kFirst + i]);
    Word before = shared;
#pragma unroll
    for (int e = kRun - 1; e >= 0; --e) {
      if (e < kRun - 1) before = Choose<kExtreme>(values[kFirst + e], before);
      found[e] = before;
    }
    Word after = values[kFirst + kTaps];
#pragma unroll
    for (int e = 1; e < kRun; ++e) {
      if (e > 1) after = Choose<kExtreme>(after, values[kFirst + kTaps + e - 1]);
      found[e] = Choose<kExtreme>(found[e], after);
    }
  } else {
    // Of 2, 4, 8... of them, then of two such runs that overlap.
    constexpr int kAll = kRun + (kTaps - 1) * kStep;
    Word runs[kAll];
#pragma unroll
    for (int i = 0; i < kAll; ++i) runs[i] = values[kFirst + i];
    int size = 1;
#pragma unroll
    for (int doubling = 0; doubling < 5; ++doubling) {
      if (2 * size > kTaps) break;
#pragma unroll
      for (int i = 0; i < kAll; ++i) {
        if (i + size * kStep < kAll) runs[i] = Choose<kExtreme>(runs[i], runs[i + size * kStep]);
      }
      size *= 2;
    }
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      found[e] = Choose<kExtreme>(runs[e], runs[e + (kTaps - size) * kStep]);
    }
  }
}

template <Extreme kExtreme, int kTaps, int kChannels, int kRun, int kDepth, class Reader, class T>
__device__ void MarchExtreme(const March<T>& march, T* output, const Reader& reader) {
  using Word = typename Reader::Element;
  Word held[kTaps - 1][kRun] = {};  // held[k]: of the result k rows below the next
  const auto use = [&](bool, const Word(&window)[4 * Reader::kQuads], Word(&results)[kRun]) {
    Word row[kRun];
    ChooseAlong<kExtreme, kTaps, kChannels, Reader::kFirst>(window, row);
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      results[e] = Choose<kExtreme>(held[0][e], row[e]);
#pragma unroll
      for (int k = 0; k + 2 < kTaps; ++k) held[k][e] = Choose<kExtreme>(held[k + 1][e], row[e]);
      held[kTaps - 2][e] = row[e];
    }
  };
  MarchRows<kDepth, kRun>(march, reader, kTaps - 1, output, use);
}

inline constexpr int kExtremeRun = 4;
template <class T, Place kPlace, int kBeside>
using ExtremeReader = std::conditional_t<std::is_same_v<T, float>,
                                         QuadReader<kPlace, float, kExtremeRun, kBeside, kBeside>,
                                         PairReader<kPlace, kExtremeRun, kBeside, kBeside>>;

template <class T, Extreme kExtreme, int kTaps, int kChannels>
__global__ void __launch_bounds__(32 * kMarchWarps<kChannels>,
                                  MarchBlocks<float>(kTaps, kChannels, kExtremeRun, kTaps))
    ExtremeMarch(const __grid_constant__ FilterBatch batch) {
  constexpr int kRun = kExtremeRun, kDepth = MarchDepth<float>(kTaps, kChannels);
  constexpr int kBeside = kTaps / 2 * kChannels;
  using Inside = ExtremeReader<T, Place::kInside, kBeside>;
  using Anywhere = ExtremeReader<T, Place::kAnywhere, kBeside>;
  __shared__ typename Inside::Shared shared[kMarchWarps<kChannels>];
  const FilterImage& image = FindImage(batch);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const TileOrigin origin = FindTile(image, batch.tile.rows, batch.tile.columns);
  const auto march = MakeMarch<T, kChannels, kRun>(batch, image, origin);
  if (march.element >= march.stride) return;
  T* const output =
      static_cast<T*>(image.output) + origin.row * march.stride + march.element + lane * kRun;
  const bool inside = Inside::IsInside(march, image.output);
  if constexpr (std::is_same_v<T, float>) {
    if (inside) {
      const Inside reader(march, kChannels, image.output, shared[warp], lane);
      MarchExtreme<kExtreme, kTaps, kChannels, kRun, kDepth>(march, output, reader);
    } else {
      const Anywhere reader(march, kChannels, image.output, shared[warp], lane);
      MarchExtreme<kExtreme, kTaps, kChannels, kRun, kSlowDepth>(march, output, reader);
    }
  } else {
    const March<T> upper = UpperHalf(march, batch);
    const int apart = batch.tile.rows / 2;
    const long long rows = image.rows - origin.row;
    if (inside && IsWholeTile(march, batch)) {
      const Inside reader(upper, kChannels, image.output, apart, rows, shared[warp], lane);
      MarchExtreme<kExtreme, kTaps, kChannels, kRun, kDepth>(upper, output, reader);
    } else {
      const Anywhere reader(upper, kChannels, image.output, apart, rows, shared[warp], lane);
      MarchExtreme<kExtreme, kTaps, kChannels, kRun, kSlowDepth>(upper, output, reader);
    }
  }
}

template <class T, Extreme kExtreme, int kTaps, int kChannels>
cudaError_t LaunchExtremeTaps(const FilterBatch& batch, cudaStream_t stream) {
  if constexpr (kTaps > 1) {
    if (batch.window.rows < kTaps) {
      return LaunchExtremeTaps<T, kExtreme, kTaps - 2, kChannels>(batch, stream);
    }
    return LaunchMarch<kChannels>(ExtremeMarch<T, kExtreme, kTaps, kChannels>, batch, stream);
  }
  return cudaErrorInvalidValue;
}

template <int kChannels>
cudaError_t LaunchExtremeChannels(const FilterBatch& batch, Extreme extreme, cudaStream_t stream) {
  constexpr int kMax = kMaxExtremeTaps<kChannels>;
  const bool minimum = extreme == Extreme::kMinimum;
  if (batch.input == PixelType::kFloat32) {
    return minimum ? LaunchExtremeTaps<float, Extreme::kMinimum, kMax, kChannels>(batch, stream)
                   : LaunchExtremeTaps<float, Extreme::kMaximum, kMax, kChannels>(batch, stream);
  }
  return minimum ? LaunchExtremeTaps<uint8_t, Extreme::kMinimum, kMax, kChannels>(batch, stream)
                 : LaunchExtremeTaps<uint8_t, Extreme::kMaximum, kMax, kChannels>(batch, stream);
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_EXTREME_MARCH_CUH_
