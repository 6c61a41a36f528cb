// The kernel of filter_separable_march.h: along the columns in registers, then down the rows by
// sums that move down by a row as each row is added to them.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_SEPARABLE_MARCH_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_SEPARABLE_MARCH_CUH_

#include "kernels/cuda/filter_march.cuh"
#include "kernels/cuda/filter_separable_march.h"

namespace gpucall::cuda {

template <int kTaps, int kChannels, int kRun, int kDepth, class Reader, class In, class Out>
__device__ void MarchSeparable(const SeparableWeights& weights, const March<In>& march, Out output,
                               const Reader& reader) {
  float sums[kTaps][kRun] = {};  // sums[k]: of the result k rows below the next
  const auto use = [&](bool, const float(&window)[4 * Reader::kQuads], float(&results)[kRun]) {
    float row[kRun];
#pragma unroll
    for (int e = 0; e < kRun; ++e) {
      row[e] = 0;
#pragma unroll
      for (int j = 0; j < kTaps; ++j) {
        row[e] = fmaf(weights.columns[j], window[Reader::kFirst + e + j * kChannels], row[e]);
      }
    }
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
#pragma unroll
      for (int e = 0; e < kRun; ++e) {
        const float above = k + 1 < kTaps ? sums[k + 1][e] : 0.0f;
        sums[k][e] = fmaf(weights.rows[kTaps - 1 - k], row[e], above);
      }
    }
#pragma unroll
    for (int e = 0; e < kRun; ++e) results[e] = sums[0][e];
  };
  MarchRows<kDepth, kRun>(march, reader, kTaps - 1, output, use);
}

template <class In, int kTaps, int kChannels>
__global__ void __launch_bounds__(32 * kMarchWarps<kChannels>,
                                  MarchBlocks<In>(kTaps, kChannels, MarchRun<In>(kTaps), kTaps))
    SeparableMarch(const __grid_constant__ FilterBatch batch,
                   const __grid_constant__ SeparableWeights weights) {
  constexpr int kRun = MarchRun<In>(kTaps), kDepth = MarchDepth<In>(kTaps, kChannels);
  constexpr int kBeside = kTaps / 2 * kChannels;
  using Inside = QuadReader<Place::kInside, In, kRun, kBeside, kBeside>;
  using Anywhere = QuadReader<Place::kAnywhere, In, kRun, kBeside, kBeside>;
  __shared__ typename Inside::Shared shared[kMarchWarps<kChannels>];
  const FilterImage& image = FindImage(batch);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const TileOrigin origin = FindTile(image, batch.tile.rows, batch.tile.columns);
  const auto march = MakeMarch<In, kChannels, kRun>(batch, image, origin);
  if (march.element >= march.stride) return;
  const RunOutput output(image, batch.output,
                         origin.row * march.stride + march.element + lane * kRun);
  if (Inside::IsInside(march, image.output)) {
    const Inside reader(march, kChannels, image.output, shared[warp], lane);
    MarchSeparable<kTaps, kChannels, kRun, kDepth>(weights, march, output, reader);
  } else {
    const Anywhere reader(march, kChannels, image.output, shared[warp], lane);
    MarchSeparable<kTaps, kChannels, kRun, kSlowDepth>(weights, march, output, reader);
  }
}

template <class In, int kTaps, int kChannels>
cudaError_t LaunchTaps(const FilterBatch& batch, const SeparableWeights& weights,
                       cudaStream_t stream) {
  if constexpr (kTaps > 1) {
    if (batch.window.rows < kTaps) {
      return LaunchTaps<In, kTaps - 2, kChannels>(batch, weights, stream);
    }
    return LaunchMarch<kChannels>(SeparableMarch<In, kTaps, kChannels>, batch, stream, weights);
  }
  return cudaErrorInvalidValue;
}

template <int kChannels>
cudaError_t LaunchSeparableChannels(const FilterBatch& batch, const SeparableWeights& weights,
                                    cudaStream_t stream) {
  constexpr int kMax = kChannels == 1 ? kMaxMarchTaps : kMaxChannelMarchTaps;
  if (batch.input == PixelType::kFloat32) {
    return LaunchTaps<float, kMax, kChannels>(batch, weights, stream);
  }
  return LaunchTaps<uint8_t, kMax, kChannels>(batch, weights, stream);
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_SEPARABLE_MARCH_CUH_
