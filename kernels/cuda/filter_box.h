// Separable filters with large windows whose weights are equal: their cost does not depend on the
// window.
#ifndef GPUCALL_KERNELS_CUDA_FILTER_BOX_H_
#define GPUCALL_KERNELS_CUDA_FILTER_BOX_H_

#include "kernels/cuda/filter.h"

namespace gpucall::cuda {

// Whether that is so. Sums of uint8 are exact.
bool IsBox(const FilterShape& shape, const SeparableWeights& weights);
// REQUIRES (both): IsBox.
FilterTile BoxTile(const FilterShape& shape);
cudaError_t LaunchBox(const FilterBatch& batch, const SeparableWeights& weights,
                      cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_FILTER_BOX_H_
