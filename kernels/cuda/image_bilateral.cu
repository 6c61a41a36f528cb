// A block makes a tile of the output from its neighbourhood in shared memory, as floats, and from
// lists of the weights. Large radii, which have no room there, go pixel by pixel.
#include "kernels/cuda/image.h"
#include "kernels/cuda/image_pixels.cuh"
#include "kernels/image_bilateral.h"

namespace gpucall::cuda {
namespace {

constexpr int kTileColumns = 32, kTileRows = 32;
constexpr int kDown = kImageThreads / kTileColumns;  // rows between a thread's pixels
constexpr int kRun = kTileRows / kDown;              // pixels of a thread
constexpr int kMaxTileRadius = 12;

// A pixel of the neighbourhood that takes part.
struct Tap {
  int offset;  // in the tile
  float weight;
};

template <class T, int kChannels>
struct Layout {
  int radius;
  __host__ __device__ int side() const { return 2 * radius + 1; }
  __host__ __device__ int columns() const { return kTileColumns + 2 * radius; }
  __host__ __device__ int elements() const {
    return columns() * (kTileRows + 2 * radius) * kChannels;
  }
  __host__ __device__ static int differences() {
    return std::is_floating_point_v<T> ? 0 : 255 * kChannels + 1;
  }
  size_t shared_bytes() const {
    return sizeof(Tap) * side() * side() + sizeof(float) * (differences() + elements());
  }
};

// Fills `taps` in order; returns how many there are. One warp takes part.
template <class T, int kChannels>
__device__ int ListTaps(const image::Arguments& a, const Layout<T, kChannels>& layout, Tap* taps) {
  const int lane = threadIdx.x % 32, side = layout.side();
  int count = 0;
  for (int first = 0; first < side * side; first += 32) {
    const int at = first + lane;
    const float weight = at < side * side ? static_cast<float>(a.table[at]) : 0.0f;
    const unsigned takes_part = __ballot_sync(0xffffffffu, weight != 0);
    if (weight != 0) {
      const int offset = (at / side * layout.columns() + at % side) * kChannels;
      taps[count + __popc(takes_part & ((1u << lane) - 1))] = {offset, weight};
    }
    count += __popc(takes_part);
  }
  return count;
}

template <class T, int kChannels>
__device__ void ReadTile(const image::Arguments& a, const Layout<T, kChannels>& layout, int64_t n,
                         int64_t top, int64_t left, float* tile) {
  const int columns = layout.columns(), pixels = layout.elements() / kChannels;
  for (int i = threadIdx.x; i < pixels; i += kImageThreads) {
    const int64_t row = image::Inside(a.border, top + i / columns, a.in.rows);
    const int64_t column = image::Inside(a.border, left + i % columns, a.in.columns);
    const bool outside = row < 0 || column < 0;
    const int64_t from = outside ? 0 : image::PixelAt(a.in, n, row, column) * kChannels;
    for (int c = 0; c < kChannels; ++c) {
      tile[i * kChannels + c] = outside ? static_cast<float>(a.numbers[1])
                                        : static_cast<float>(image::Load<T>(a.x, from + c));
    }
  }
}

// Of a float from 0 to 2^23 - 1: faster than conversions, which few units do.
__device__ inline int Truncated(float value) {
  constexpr float kWhole = 8388608.0f;  // from here on floats have no fractions
  return __float_as_int(__fadd_rz(value, kWhole)) - __float_as_int(kWhole);
}

// The sums of image::BilateralPixel, in its order.
template <class T, int kChannels>
__global__ void __launch_bounds__(kImageThreads) BilateralTile(image::Arguments a, int across) {
  extern __shared__ Tap taps[];
  __shared__ int shared_count;
  const Layout<T, kChannels> layout = {a.option};
  float* const alike = reinterpret_cast<float*>(taps + layout.side() * layout.side());
  float* const tile = alike + layout.differences();
  const int64_t n = blockIdx.y;
  const int64_t top = static_cast<int64_t>(blockIdx.x / across) * kTileRows;
  const int64_t left = static_cast<int64_t>(blockIdx.x % across) * kTileColumns;
  if (threadIdx.x < 32) {
    const int count = ListTaps(a, layout, taps);
    if (threadIdx.x == 0) shared_count = count;
  }
  for (int i = threadIdx.x; i < layout.differences(); i += kImageThreads) {
    alike[i] = static_cast<float>(a.table[layout.side() * layout.side() + i]);
  }
  ReadTile(a, layout, n, top - a.option, left - a.option, tile);
  __syncthreads();

  const int x = threadIdx.x % kTileColumns, y = threadIdx.x / kTileColumns;
  const int step = kDown * layout.columns() * kChannels;
  const float* const first = tile + (y * layout.columns() + x) * kChannels;
  const float* const middle = first + a.option * (layout.columns() + 1) * kChannels;
  const auto factor = static_cast<float>(a.numbers[0]);
  float centre[kRun][kChannels], sums[kRun][kChannels] = {}, weights[kRun] = {};
#pragma unroll
  for (int m = 0; m < kRun; ++m) {
    for (int c = 0; c < kChannels; ++c) centre[m][c] = middle[m * step + c];
  }
  const int count = shared_count;
  for (int t = 0; t < count; ++t) {
    const Tap tap = taps[t];
#pragma unroll
    for (int m = 0; m < kRun; ++m) {
      const float* const pixel = first + tap.offset + m * step;
      float difference = 0;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) difference += fabsf(pixel[c] - centre[m][c]);
      float weight;
      if constexpr (std::is_floating_point_v<T>) {
        weight = tap.weight * expf(difference * difference * factor);
      } else {
        weight = tap.weight * alike[Truncated(difference)];
      }
      weights[m] += weight;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) sums[m][c] += weight * pixel[c];
    }
  }
#pragma unroll
  for (int m = 0; m < kRun; ++m) {
    const int64_t row = top + y + m * kDown, column = left + x;
    if (row >= a.in.rows || column >= a.in.columns) continue;
    const int64_t to = image::PixelAt(a.in, n, row, column) * kChannels;
    for (int c = 0; c < kChannels; ++c) {
      image::Store<T>(a.out, to + c, image::Rounded<T>(sums[m][c] / weights[m]));
    }
  }
}

template <class T, int kChannels>
cudaError_t Launch(image::BilateralPixel<T, kChannels>, const image::Arguments& a,
                   cudaStream_t stream) {
  constexpr int64_t kMostImages = 65535;
  if (a.option > kMaxTileRadius || a.in.images > kMostImages) {
    return LaunchPixels<image::BilateralPixel<T, kChannels>>(a, stream);
  }
  const int64_t across = (a.in.columns + kTileColumns - 1) / kTileColumns;
  const int64_t down = (a.in.rows + kTileRows - 1) / kTileRows;
  if (across * down * a.in.images == 0) return cudaSuccess;
  const dim3 blocks(static_cast<unsigned>(across * down), static_cast<unsigned>(a.in.images));
  const size_t shared_bytes = Layout<T, kChannels>{a.option}.shared_bytes();
  BilateralTile<T, kChannels>
      <<<blocks, kImageThreads, shared_bytes, stream>>>(a, static_cast<int>(across));
  return cudaGetLastError();
}

}  // namespace

cudaError_t LaunchBilateral(const image::Arguments& a, image::Element element,
                            cudaStream_t stream) {
  return image::VisitBilateral(a, element, [&](auto kernel) { return Launch(kernel, a, stream); });
}

}  // namespace gpucall::cuda
