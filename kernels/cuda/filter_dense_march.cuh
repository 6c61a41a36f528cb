// Correlation with square windows of odd side around their middle: see filter_march.cuh. Sums move
// down by a row as each row is added to them.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_DENSE_MARCH_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_DENSE_MARCH_CUH_

#include "kernels/cuda/filter_dense_march.h"
#include "kernels/cuda/filter_march.cuh"

namespace gpucall::cuda {

template <class In>
constexpr int DenseRun(int side) {
  return std::is_same_v<In, uint8_t> && side == 3 ? 8 : 4;
}
template <class In>
constexpr int DenseBlocks(int side, int channels) {
  const int weights = side <= 7 ? side * side : 8;
  return MarchBlocks<In>(side, channels, DenseRun<In>(side), side, weights);
}

// What becomes of elements under a weight of 0, which take no part. Only those that are not finite
// would change a sum: kCheck finds whether there are any.
enum class ZeroWeights : uint8_t { kNone, kCheck, kSkip };

// False where a sum may be wrong: kCheck has seen an element that is not finite.
template <ZeroWeights kZeros, int kSide, int kChannels, int kRun, int kDepth, class Reader,
          class In, class Out>
__device__ bool MarchDense(const float* shared_weights, const March<In>& march, Out output,
                           const Reader& reader) {
  constexpr bool kHeld = kSide <= 7;  // weights in registers
  float weights[kHeld ? kSide * kSide : 1];
  if constexpr (kHeld) {
#pragma unroll
    for (int i = 0; i < kSide * kSide; ++i) weights[i] = shared_weights[i];
  }
  float sums[kSide][kRun] = {};  // sums[k]: of the result k rows below the next
  float finite = 0;
  const auto use = [&](bool, const float(&window)[4 * Reader::kQuads], float(&results)[kRun]) {
    if constexpr (kZeros == ZeroWeights::kCheck) {
#pragma unroll
      for (int q = 0; q < 4 * Reader::kQuads; ++q) finite = fmaf(window[q], 0.0f, finite);
    }
#pragma unroll
    for (int k = 0; k < kSide; ++k) {
#pragma unroll
      for (int e = 0; e < kRun; ++e) sums[k][e] = k + 1 < kSide ? sums[k + 1][e] : 0.0f;
#pragma unroll
      for (int j = 0; j < kSide; ++j) {
        const int at = (kSide - 1 - k) * kSide + j;
        const float weight = kHeld ? weights[kHeld ? at : 0] : shared_weights[at];
        if (kZeros == ZeroWeights::kSkip && weight == 0) continue;
#pragma unroll
        for (int e = 0; e < kRun; ++e) {
          sums[k][e] = fmaf(weight, window[Reader::kFirst + e + j * kChannels], sums[k][e]);
        }
      }
    }
#pragma unroll
    for (int e = 0; e < kRun; ++e) results[e] = sums[0][e];
  };
  MarchRows<kDepth, kRun>(march, reader, kSide - 1, output, use);
  return kZeros != ZeroWeights::kCheck || !__any_sync(0xffffffffu, finite != 0);
}

// Images whose sums are in float32.
template <class In, int kSide, int kChannels>
__global__ void __launch_bounds__(32 * kMarchWarps<kChannels>, DenseBlocks<In>(kSide, kChannels))
    DenseMarch(const __grid_constant__ FilterBatch batch) {
  constexpr int kRun = DenseRun<In>(kSide), kDepth = MarchDepth<In>(kSide, kChannels);
  constexpr int kBeside = kSide / 2 * kChannels, kWarps = kMarchWarps<kChannels>;
  constexpr bool kFinite = std::is_same_v<In, uint8_t>;
  using Inside = QuadReader<Place::kInside, In, kRun, kBeside, kBeside>;
  using Anywhere = QuadReader<Place::kAnywhere, In, kRun, kBeside, kBeside>;
  __shared__ typename Inside::Shared shared[kWarps];
  __shared__ float weights[kSide * kSide];
  const FilterImage& image = FindImage(batch);
  if (image.dense_weights[0] != 0) return;
  bool zero = false;
  for (int i = threadIdx.x; i < kSide * kSide; i += 32 * kWarps) {
    weights[i] = static_cast<float>(image.dense_weights[1 + i]);
    zero |= weights[i] == 0;
  }
  const bool zeros = __syncthreads_or(zero) && !kFinite;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const TileOrigin origin = FindTile(image, batch.tile.rows, batch.tile.columns);
  const auto march = MakeMarch<In, kChannels, kRun>(batch, image, origin);
  if (march.element >= march.stride) return;
  const RunOutput output(image, batch.output,
                         origin.row * march.stride + march.element + lane * kRun);
  constexpr auto kNone = ZeroWeights::kNone, kCheck = ZeroWeights::kCheck;
  if (Inside::IsInside(march, image.output)) {
    const Inside reader(march, kChannels, image.output, shared[warp], lane);
    const bool done =
        zeros ? MarchDense<kCheck, kSide, kChannels, kRun, kDepth>(weights, march, output, reader)
              : MarchDense<kNone, kSide, kChannels, kRun, kDepth>(weights, march, output, reader);
    if (done) return;
  }
  const Anywhere reader(march, kChannels, image.output, shared[warp], lane);
  constexpr auto kSlow = kFinite ? kNone : ZeroWeights::kSkip;
  MarchDense<kSlow, kSide, kChannels, kRun, kSlowDepth>(weights, march, output, reader);
}

template <class In, int kChannels>
cudaError_t LaunchDenseSide(const FilterBatch& batch, cudaStream_t stream) {
  switch (batch.window.rows) {
    case 3:
      return LaunchMarch<kChannels>(DenseMarch<In, 3, kChannels>, batch, stream);
    case 5:
      return LaunchMarch<kChannels>(DenseMarch<In, 5, kChannels>, batch, stream);
    case 7:
      return LaunchMarch<kChannels>(DenseMarch<In, 7, kChannels>, batch, stream);
    case 9:
      if constexpr (kChannels == 1) {
        return LaunchMarch<1>(DenseMarch<In, 9, 1>, batch, stream);
      }
      break;
    case 11:
      if constexpr (kChannels == 1) {
        return LaunchMarch<1>(DenseMarch<In, 11, 1>, batch, stream);
      }
  }
  return cudaErrorInvalidValue;
}

template <int kChannels>
cudaError_t LaunchDenseChannels(const FilterBatch& batch, cudaStream_t stream) {
  if (batch.input == PixelType::kFloat32) {
    return LaunchDenseSide<float, kChannels>(batch, stream);
  }
  return LaunchDenseSide<uint8_t, kChannels>(batch, stream);
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_DENSE_MARCH_CUH_
