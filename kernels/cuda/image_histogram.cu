#include "kernels/cuda/image.h"
#include "kernels/cuda/image_pixels.cuh"
#include "kernels/image_histogram.h"

namespace gpucall::cuda {
namespace {

constexpr int kSharedBins = 4096;  // 32 KiB of a block's counts

__global__ void __launch_bounds__(kImageThreads)
    ClearCounts(unsigned long long* counts, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    counts[i] = 0;
  }
}

// A block counts in shared memory, and adds what it has of an image to that image's counts.
// `shared_bins`: a.option where they fit there, else 0.
template <class T>
struct CountElements {
  static __device__ void Run(const image::Arguments& a, int shared_bins) {
    __shared__ unsigned long long shared[kSharedBins];
    auto* const out = static_cast<unsigned long long*>(a.out);
    const int64_t count = a.in.rows * a.in.columns * a.in.channels;
    const int64_t step = int64_t{gridDim.x} * blockDim.x;
    for (int64_t n = blockIdx.y; n < a.in.images; n += gridDim.y) {  // the same for all of a block
      unsigned long long* const bins = out + n * a.option;
      for (int b = threadIdx.x; b < shared_bins; b += blockDim.x) shared[b] = 0;
      __syncthreads();
      for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const T value = image::Load<T>(a.x, n * count + i);
        const int64_t bin = image::BinOf(a, static_cast<double>(value));
        if (bin >= 0) atomicAdd((shared_bins > 0 ? shared : bins) + bin, 1ull);
      }
      __syncthreads();
      for (int b = threadIdx.x; b < shared_bins; b += blockDim.x) {
        if (shared[b] > 0) atomicAdd(bins + b, shared[b]);
      }
      __syncthreads();
    }
  }
};

template <class Counter>
__global__ void __launch_bounds__(kImageThreads) Count(image::Arguments a, int shared_bins) {
  Counter::Run(a, shared_bins);
}

}  // namespace

cudaError_t LaunchHistogram(const image::Arguments& a, image::Element element,
                            cudaStream_t stream) {
  const int64_t bins = a.in.images * a.option;
  if (bins == 0) return cudaSuccess;
  ClearCounts<<<ImageBlocks(bins), kImageThreads, 0, stream>>>(
      static_cast<unsigned long long*>(a.out), bins);
  const int64_t count = a.in.rows * a.in.columns * a.in.channels;
  if (count == 0) return cudaGetLastError();
  constexpr int64_t kMostImages = 1 << 10, kElementsOfThread = 16;
  const auto images = static_cast<unsigned>(a.in.images < kMostImages ? a.in.images : kMostImages);
  const dim3 blocks(ImageBlocks((count + kElementsOfThread - 1) / kElementsOfThread), images);
  const int shared_bins = a.option <= kSharedBins ? a.option : 0;
  return image::VisitElement<CountElements>(element, [&](auto counter) {
    Count<decltype(counter)><<<blocks, kImageThreads, 0, stream>>>(a, shared_bins);
    return cudaGetLastError();
  });
}

cudaError_t LaunchOtsuValue(const image::Arguments& a, cudaStream_t stream) {
  return LaunchPixels<image::OtsuPixel>(a, stream);
}

cudaError_t LaunchEqualiseTable(const image::Arguments& a, cudaStream_t stream) {
  return LaunchPixels<image::EqualiseTablePixel>(a, stream);
}

}  // namespace gpucall::cuda
