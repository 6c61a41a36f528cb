// Separable filters whose window is known when they are compiled: see filter_march.cuh.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_SEPARABLE_MARCH_H_
#define GPUCALL_KERNELS_CUDA_FILTER_SEPARABLE_MARCH_H_

#include "kernels/cuda/filter.h"

namespace gpucall::cuda {

// Whether there is such a kernel: for square windows of odd side around their middle.
bool SeparableMarches(const FilterShape& shape);
// REQUIRES (both): SeparableMarches.
FilterTile SeparableMarchTile(const FilterShape& shape);
cudaError_t LaunchSeparableMarch(const FilterBatch& batch, const SeparableWeights& weights,
                                 cudaStream_t stream);

// By channels; each compiled by itself.
inline constexpr int kMaxMarchTaps = 33;         // of one channel
inline constexpr int kMaxChannelMarchTaps = 11;  // of 3 and 4
template <int kChannels>
cudaError_t LaunchSeparableChannels(const FilterBatch& batch, const SeparableWeights& weights,
                                    cudaStream_t stream);
extern template cudaError_t LaunchSeparableChannels<1>(const FilterBatch&, const SeparableWeights&,
                                                       cudaStream_t);
extern template cudaError_t LaunchSeparableChannels<3>(const FilterBatch&, const SeparableWeights&,
                                                       cudaStream_t);
extern template cudaError_t LaunchSeparableChannels<4>(const FilterBatch&, const SeparableWeights&,
                                                       cudaStream_t);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_SEPARABLE_MARCH_H_
