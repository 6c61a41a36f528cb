// Extremes whose window is known when they are compiled: see filter_march.cuh.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_EXTREME_MARCH_H_
#define GPUCALL_KERNELS_CUDA_FILTER_EXTREME_MARCH_H_

#include "kernels/cuda/filter.h"

namespace gpucall::cuda {

// By channels; each compiled by itself.
template <int kChannels>
inline constexpr int kMaxExtremeTaps = kChannels == 1 ? 15 : 7;
template <int kChannels>
cudaError_t LaunchExtremeChannels(const FilterBatch& batch, Extreme extreme, cudaStream_t stream);
extern template cudaError_t LaunchExtremeChannels<1>(const FilterBatch&, Extreme, cudaStream_t);
extern template cudaError_t LaunchExtremeChannels<3>(const FilterBatch&, Extreme, cudaStream_t);
extern template cudaError_t LaunchExtremeChannels<4>(const FilterBatch&, Extreme, cudaStream_t);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_EXTREME_MARCH_H_
