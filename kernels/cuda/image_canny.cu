#include "kernels/cuda/image.h"
#include "kernels/cuda/image_pixels.cuh"
#include "kernels/image_canny.h"

namespace gpucall::cuda {
namespace {

// Pixels of the map that are not 0 form trees, one for each set of those that touch: `parents` has
// a pixel of the same set with a lower number, or the pixel itself, the root.
struct Trees {
  unsigned* parents;
  uint8_t* certain;  // at roots: 1 where a pixel of the set is 2
};
Trees TreesOf(const image::Arguments& a, int64_t count) {
  auto* const parents = static_cast<unsigned*>(a.scratch);
  return {parents, reinterpret_cast<uint8_t*>(parents + count)};
}

// Other threads hang trees onto others meanwhile: what is read may be old, but is of the set.
__device__ unsigned RootOf(const unsigned* parents, unsigned pixel) {
  const volatile unsigned* const read = parents;
  for (unsigned parent = read[pixel]; parent != pixel; parent = read[pixel]) pixel = parent;
  return pixel;
}

// Makes the sets of a and b one (Playne and Hawick, 2018): the larger root gets the smaller as its
// parent, and where another thread was faster what it put there joins too.
__device__ void Join(unsigned* parents, unsigned a, unsigned b) {
  a = RootOf(parents, a);
  b = RootOf(parents, b);
  while (a != b) {
    const unsigned larger = a > b ? a : b, smaller = a > b ? b : a;
    const unsigned before = atomicMin(parents + larger, smaller);
    if (before == larger) return;  // it was a root
    a = before;
    b = smaller;
  }
}

__global__ void __launch_bounds__(kImageThreads) Plant(Trees trees, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    trees.parents[i] = static_cast<unsigned>(i);
    trees.certain[i] = 0;
  }
}

// Each pixel joins those before it among the 8 around.
__global__ void __launch_bounds__(kImageThreads)
    JoinNeighbours(image::Arguments a, Trees trees, int64_t count) {
  const auto* const map = static_cast<const uint8_t*>(a.x);
  const int64_t columns = a.in.columns, step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    if (map[i] == 0) continue;
    const int64_t x = i % columns, y = i / columns % a.in.rows;
    const auto join = [&](int64_t other) {
      if (map[other] != 0) {
        Join(trees.parents, static_cast<unsigned>(i), static_cast<unsigned>(other));
      }
    };
    if (x > 0) join(i - 1);
    if (y == 0) continue;
    join(i - columns);
    if (x > 0) join(i - columns - 1);
    if (x + 1 < columns) join(i - columns + 1);
  }
}

__global__ void __launch_bounds__(kImageThreads)
    MarkCertain(image::Arguments a, Trees trees, int64_t count) {
  const auto* const map = static_cast<const uint8_t*>(a.x);
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    if (map[i] == 2) trees.certain[RootOf(trees.parents, static_cast<unsigned>(i))] = 1;
  }
}

__global__ void __launch_bounds__(kImageThreads)
    WriteEdges(image::Arguments a, Trees trees, int64_t count) {
  const auto* const map = static_cast<const uint8_t*>(a.x);
  auto* const edges = static_cast<uint8_t*>(a.out);
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const bool edge =
        map[i] != 0 && trees.certain[RootOf(trees.parents, static_cast<unsigned>(i))] != 0;
    edges[i] = edge ? 255 : 0;
  }
}

}  // namespace

cudaError_t LaunchCannyMap(const image::Arguments& a, cudaStream_t stream) {
  return LaunchPixels<image::CannyMapPixel>(a, stream);
}

int64_t HysteresisScratchBytes(const image::Sizes& sizes) {
  return sizes.images * sizes.rows * sizes.columns * int64_t{sizeof(unsigned) + 1};
}

cudaError_t LaunchHysteresis(const image::Arguments& a, cudaStream_t stream) {
  const int64_t count = a.in.images * a.in.rows * a.in.columns;
  if (count == 0) return cudaSuccess;
  const Trees trees = TreesOf(a, count);
  const unsigned blocks = ImageBlocks(count);
  Plant<<<blocks, kImageThreads, 0, stream>>>(trees, count);
  JoinNeighbours<<<blocks, kImageThreads, 0, stream>>>(a, trees, count);
  MarkCertain<<<blocks, kImageThreads, 0, stream>>>(a, trees, count);
  WriteEdges<<<blocks, kImageThreads, 0, stream>>>(a, trees, count);
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
