#include "kernels/cuda/filter_dense_march.cuh"

namespace gpucall::cuda {

template cudaError_t LaunchDenseChannels<1>(const FilterBatch&, cudaStream_t);

}  // namespace gpucall::cuda
