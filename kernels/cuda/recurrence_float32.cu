#include "kernels/cuda/recurrence.cuh"

namespace gpucall::cuda {

cudaError_t LaunchFloat32Pass(const Recurrence& r, Pass pass, cudaStream_t stream) {
  return LaunchFormPass<float>(r, pass, stream);
}

}  // namespace gpucall::cuda
