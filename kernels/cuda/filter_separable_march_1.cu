#include "kernels/cuda/filter_separable_march.cuh"

namespace gpucall::cuda {

template cudaError_t LaunchSeparableChannels<1>(const FilterBatch&, const SeparableWeights&,
                                                cudaStream_t);

}  // namespace gpucall::cuda
