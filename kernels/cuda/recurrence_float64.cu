#include "kernels/cuda/recurrence.cuh"

namespace gpucall::cuda {

cudaError_t LaunchFloat64Pass(const Recurrence& r, Pass pass, cudaStream_t stream) {
  return LaunchFormPass<double>(r, pass, stream);
}

}  // namespace gpucall::cuda
