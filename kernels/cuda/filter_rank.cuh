// What kernels that order elements share.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_RANK_CUH_
#define GPUCALL_KERNELS_CUDA_FILTER_RANK_CUH_

#include <cstdint>

#include "kernels/cuda/filter_common.cuh"

namespace gpucall::cuda {

// Keys order as ranks do: NaN last, -0 before 0.
__device__ inline uint8_t KeyOf(uint8_t value) { return value; }
__device__ inline uint32_t KeyOf(float value) {
  const uint32_t bits = __float_as_uint(value);
  if (value != value) return 0xffffffffu;
  return bits ^ (bits >> 31 != 0 ? 0xffffffffu : 0x80000000u);
}

// The element of a key.
__device__ inline uint8_t ElementOf(uint8_t key) { return key; }
__device__ inline float ElementOf(uint32_t key) {
  if (key == 0xffffffffu) return __uint_as_float(0x7fffffffu);
  return __uint_as_float(key ^ (key >> 31 != 0 ? 0x80000000u : 0xffffffffu));
}

template <class Out, class Key>
__device__ Out ResultOf(Key key) {
  const auto element = ElementOf(key);
  if constexpr (std::is_same_v<decltype(element), const uint8_t>) {
    return static_cast<Out>(element);
  } else {
    return ConvertResult<Out>(element);
  }
}

// For medians in 3x3, 5x5 and 7x7 windows around their middle: filter_median_march.cu.
bool MedianMarches(const FilterShape& shape);
// REQUIRES (both): MedianMarches.
FilterTile MedianMarchTile(const FilterShape& shape);
cudaError_t LaunchMedianMarch(const FilterBatch& batch, cudaStream_t stream);

// For uint8 in windows of 6 columns to 255 a side: filter_rank_columns.cu.
bool RankCountsColumns(const FilterShape& shape);
// REQUIRES (both): RankCountsColumns.
FilterTile RankColumnsTile(const FilterShape& shape);
cudaError_t LaunchRankColumns(const FilterBatch& batch, int rank, cudaStream_t stream);

// For any window: filter_rank_select.cu.
FilterTile RankSelectTile(int channels);
cudaError_t LaunchRankSelect(const FilterBatch& batch, int rank, cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_RANK_CUH_
