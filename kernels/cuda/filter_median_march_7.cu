#include "kernels/cuda/filter_median_march.cuh"

namespace gpucall::cuda {

template <class T>
cudaError_t LaunchMedian7(const FilterBatch& batch, cudaStream_t stream) {
  return LaunchMarch<1>(MedianMarch<T, 7>, batch, stream);
}
template cudaError_t LaunchMedian7<uint8_t>(const FilterBatch&, cudaStream_t);
template cudaError_t LaunchMedian7<float>(const FilterBatch&, cudaStream_t);

}  // namespace gpucall::cuda
