// One thread for a pixel of the output at a time.
#ifndef GPUCALL_KERNELS_CUDA_IMAGE_PIXELS_CUH_
#define GPUCALL_KERNELS_CUDA_IMAGE_PIXELS_CUH_

#include <cuda_runtime.h>

#include "kernels/image_elements.h"

namespace gpucall::cuda {

inline constexpr int kImageThreads = 256;

// Enough blocks of kImageThreads for `count` elements, or as many as keep a device busy.
inline unsigned ImageBlocks(int64_t count) {
  constexpr int64_t kMost = 1 << 14;
  const int64_t blocks = (count + kImageThreads - 1) / kImageThreads;
  return static_cast<unsigned>(blocks < kMost ? blocks : kMost);
}

template <class Kernel>
__global__ void __launch_bounds__(kImageThreads) MakePixels(image::Arguments a, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const int64_t row = i / a.out_sizes.columns;
    Kernel::Pixel(a, row / a.out_sizes.rows, row % a.out_sizes.rows, i % a.out_sizes.columns);
  }
}

template <class Kernel>
cudaError_t LaunchPixels(const image::Arguments& a, cudaStream_t stream) {
  const int64_t count = a.out_sizes.images * a.out_sizes.rows * a.out_sizes.columns;
  if (count == 0) return cudaSuccess;
  MakePixels<Kernel><<<ImageBlocks(count), kImageThreads, 0, stream>>>(a, count);
  return cudaGetLastError();
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_IMAGE_PIXELS_CUH_
