#include "kernels/cuda/filter_extreme_march.cuh"

namespace gpucall::cuda {

template cudaError_t LaunchExtremeChannels<3>(const FilterBatch&, Extreme, cudaStream_t);

}  // namespace gpucall::cuda
