#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/network_common.cuh"

namespace gpucall::cuda {
namespace {

constexpr int kThreads = 256;
constexpr long long kMaxBlocks = 1 << 16;

// Places of a window along an axis that are in the image, and how many are in the padded image.
struct Range {
  long long start, first, last, padded;  // in the image: start + i * dilation, first <= i < last
};

// Of the places start + i * step, i < count, how many are below `limit`.
__device__ long long Below(long long start, long long step, long long count, long long limit) {
  return limit <= start ? 0 : min(count, (limit - start + step - 1) / step);
}

__device__ Range RangeOf(const WindowShape& s, int axis, long long at) {
  const long long size = axis == 0 ? s.rows : s.columns;
  const long long step = s.dilation[axis], count = s.size[axis];
  const long long start = at * s.stride[axis] - s.before[axis];
  const long long last = Below(start, step, count, size);
  return {start, min(Below(start, step, count, 0), last), last,
          Below(start, step, count, size + s.after[axis])};
}

// A thread for each element of the result, in turns, in the order of memory.
template <class T, PoolKind kKind>
__global__ void __launch_bounds__(kThreads) Pool(WindowShape s, const T* x, T* out) {
  using Sum = typename ImageSum<T>::Type;
  const long long total = s.images * s.channels * s.out_rows * s.out_columns;
  const long long threads = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < total;
       i += threads) {
    const long long position = s.channels_last ? i / s.channels : i;
    const long long column = position % s.out_columns, row = position / s.out_columns % s.out_rows;
    const long long plane = position / s.out_columns / s.out_rows;
    const long long image = s.channels_last ? plane : plane / s.channels;
    const long long channel = s.channels_last ? i % s.channels : plane % s.channels;
    const Range down = RangeOf(s, 0, row), along = RangeOf(s, 1, column);
    Sum result = kKind == PoolKind::kMax ? -static_cast<Sum>(INFINITY) : Sum(0);
    for (long long r = down.first; r < down.last; ++r) {
      for (long long c = along.first; c < along.last; ++c) {
        const Sum element = LoadElement(
            x[ElementOffset(s.channels_last, s.channels, s.rows, s.columns, image, channel,
                            down.start + r * s.dilation[0], along.start + c * s.dilation[1])]);
        if (kKind == PoolKind::kMean) {
          result += element;
        } else if (element > result || element != element) {
          result = element;
        }
      }
    }
    if (kKind == PoolKind::kMean) {
      result /=
          static_cast<Sum>(s.count_padding ? down.padded * along.padded
                                           : (down.last - down.first) * (along.last - along.first));
    }
    StoreElement(result, out[i]);
  }
}

template <class T>
void Launch(PoolKind kind, const WindowShape& s, const void* x, void* out, unsigned blocks,
            cudaStream_t stream) {
  const auto* const from = static_cast<const T*>(x);
  auto* const to = static_cast<T*>(out);
  if (kind == PoolKind::kMax) {
    Pool<T, PoolKind::kMax><<<blocks, kThreads, 0, stream>>>(s, from, to);
  } else {
    Pool<T, PoolKind::kMean><<<blocks, kThreads, 0, stream>>>(s, from, to);
  }
}

}  // namespace

cudaError_t LaunchPool(PoolKind kind, const WindowShape& s, const void* x, void* out,
                       cudaStream_t stream) {
  const long long total = s.images * s.channels * s.out_rows * s.out_columns;
  if (total == 0) return cudaSuccess;
  const auto blocks =
      static_cast<unsigned>(std::min(kMaxBlocks, (total + kThreads - 1) / kThreads));
  switch (s.type) {
    case ImageType::kFloat16:
      Launch<__half>(kind, s, x, out, blocks, stream);
      break;
    case ImageType::kBfloat16:
      Launch<__nv_bfloat16>(kind, s, x, out, blocks, stream);
      break;
    case ImageType::kFloat32:
      Launch<float>(kind, s, x, out, blocks, stream);
      break;
    case ImageType::kFloat64:
      Launch<double>(kind, s, x, out, blocks, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
