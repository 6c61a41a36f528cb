// What kernels of convolutions and pools share.
#ifndef GPUCALL_KERNELS_CUDA_NETWORK_COMMON_CUH_
#define GPUCALL_KERNELS_CUDA_NETWORK_COMMON_CUH_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/network.h"

namespace gpucall::cuda {

// What elements of T are added in.
template <class T>
struct ImageSum {
  using Type = float;
};
template <>
struct ImageSum<double> {
  using Type = double;
};

__device__ inline float LoadElement(__half x) { return __half2float(x); }
__device__ inline float LoadElement(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float LoadElement(float x) { return x; }
__device__ inline double LoadElement(double x) { return x; }
__device__ inline void StoreElement(float x, __half& to) { to = __float2half_rn(x); }
__device__ inline void StoreElement(float x, __nv_bfloat16& to) { to = __float2bfloat16_rn(x); }
__device__ inline void StoreElement(float x, float& to) { to = x; }
__device__ inline void StoreElement(double x, double& to) { to = x; }

// Where an element is in an array of images.
__device__ inline long long ElementOffset(bool channels_last, long long channels, long long rows,
                                          long long columns, long long image, long long channel,
                                          long long y, long long x) {
  return channels_last ? ((image * rows + y) * columns + x) * channels + channel
                       : ((image * channels + channel) * rows + y) * columns + x;
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_NETWORK_COMMON_CUH_
