// Correlation whose window is known when it is compiled: see filter_march.cuh.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_DENSE_MARCH_H_
#define GPUCALL_KERNELS_CUDA_FILTER_DENSE_MARCH_H_

#include "kernels/cuda/filter.h"

namespace gpucall::cuda {

// Whether there is such a kernel: for square windows of odd side, up to 11 (7 where there are
// several channels), around their middle.
bool DenseMarches(const FilterShape& shape);
// REQUIRES (both): DenseMarches.
FilterTile DenseMarchTile(const FilterShape& shape);
// Images whose sums are in float32; leaves others alone.
cudaError_t LaunchDenseMarch(const FilterBatch& batch, cudaStream_t stream);

// By channels; each compiled by itself.
template <int kChannels>
cudaError_t LaunchDenseChannels(const FilterBatch& batch, cudaStream_t stream);
extern template cudaError_t LaunchDenseChannels<1>(const FilterBatch&, cudaStream_t);
extern template cudaError_t LaunchDenseChannels<3>(const FilterBatch&, cudaStream_t);
extern template cudaError_t LaunchDenseChannels<4>(const FilterBatch&, cudaStream_t);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_DENSE_MARCH_H_
