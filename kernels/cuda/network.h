// Convolutions and pools of images in device memory.
#ifndef GPUCALL_KERNELS_CUDA_NETWORK_H_
#define GPUCALL_KERNELS_CUDA_NETWORK_H_

#include <cuda_runtime_api.h>

namespace gpucall::cuda {

enum class ImageType { kFloat16, kBfloat16, kFloat32, kFloat64 };  // sums of halves are in float32

// Sizes and, of pairs, (rows, columns). Output element (image, channel, y, x) is of the elements at
// y * stride + i * dilation - before of the input's rows, for i below `size`, likewise of its
// columns. Outside there are zeros, or, for pools, nothing.
struct WindowShape {
  ImageType type;
  long long images, channels, rows, columns;
  long long out_channels, out_rows, out_columns;
  long long size[2], stride[2], dilation[2], before[2], after[2];
  long long groups;    // of channels
  bool channels_last;  // else images x channels x rows x columns, of x and out
  bool count_padding;  // of means: zeros in the padded image count
};

// Of padded rows, padded columns, a window's extent, and terms of a sum.
inline constexpr long long kMaxConvolved = 1 << 30;

// Dense arrays aligned for their type, sizes at most kMaxConvolved. `weights`: out_channels x
// channels / groups x size; `bias`: out_channels, or null. The bits of a result depend on its image
// alone.
cudaError_t LaunchConvolution(const WindowShape& shape, const void* x, const void* weights,
                              const void* bias, void* out, cudaStream_t stream);

// The largest element of each window, NaN where there is one, -infinity where there is none; or the
// mean, NaN where there is none.
enum class PoolKind { kMax, kMean };
cudaError_t LaunchPool(PoolKind kind, const WindowShape& shape, const void* x, void* out,
                       cudaStream_t stream);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_NETWORK_H_
