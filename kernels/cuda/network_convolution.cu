// As a product of matrices that are never made: the weights, and the elements under each output
// position's window.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/network_common.cuh"

namespace gpucall::cuda {
namespace {

constexpr int kTile = 64;   // out channels, and positions, of a block's tile
constexpr int kTerms = 16;  // summed at a time
constexpr int kEach = 4;    // channels and positions of a thread
constexpr int kSide = kTile / kEach;
constexpr int kThreads = kSide * kSide;
constexpr long long kMaxBlocks = 1 << 20;

// Where a term's element is in the window.
struct Term {
  long long channel, y, x;
};
// Where a position's window begins. `image` -1: past the last position.
struct Position {
  long long image, y, x;
};

__device__ Term TermOf(const WindowShape& s, long long term) {
  const long long window = s.size[0] * s.size[1], place = term % window;
  return {term / window, place / s.size[1] * s.dilation[0], place % s.size[1] * s.dilation[1]};
}

__device__ Position PositionOf(const WindowShape& s, long long position) {
  const long long each = s.out_rows * s.out_columns, image = position / each;
  if (image >= s.images) return {-1, 0, 0};
  const long long place = position % each;
  return {image, place / s.out_columns * s.stride[0] - s.before[0],
          place % s.out_columns * s.stride[1] - s.before[1]};
}

// The elements of x that a tile multiplies: those of `group` at each term and position.
template <class T>
__device__ typename ImageSum<T>::Type ElementAt(const WindowShape& s, const T* x, long long group,
                                                const Term& term, const Position& position) {
  const long long row = position.y + term.y, column = position.x + term.x;
  if (position.image < 0 || row < 0 || row >= s.rows || column < 0 || column >= s.columns) return 0;
  const long long channel = group * (s.channels / s.groups) + term.channel;
  return LoadElement(x[ElementOffset(s.channels_last, s.channels, s.rows, s.columns, position.image,
                                     channel, row, column)]);
}

// A block for each tile of each group, in turns.
template <class T>
__global__ void __launch_bounds__(kThreads)
    Convolve(WindowShape s, const T* x, const T* weights, const T* bias, T* out) {
  using Sum = typename ImageSum<T>::Type;
  __shared__ Sum left[kTerms][kTile + 1], right[kTerms][kTile + 1];
  __shared__ Term terms[kTerms];
  __shared__ Position positions[kTile];
  const long long channels = s.out_channels / s.groups;  // of a group
  const long long term_count = s.channels / s.groups * s.size[0] * s.size[1];
  const long long position_count = s.images * s.out_rows * s.out_columns;
  const long long position_tiles = (position_count + kTile - 1) / kTile;
  const long long tiles = (channels + kTile - 1) / kTile * position_tiles;
  const int own_channel = threadIdx.x / kSide, own_position = threadIdx.x % kSide;
  for (long long tile = blockIdx.x; tile < tiles * s.groups; tile += gridDim.x) {
    const long long group = tile / tiles;
    const long long first_channel = tile % tiles / position_tiles * kTile;
    const long long first_position = tile % position_tiles * kTile;
    __syncthreads();  // the tile before has been finished by all
    if (threadIdx.x < kTile) positions[threadIdx.x] = PositionOf(s, first_position + threadIdx.x);
    Sum sums[kEach][kEach] = {};
    for (long long k = 0; k < term_count; k += kTerms) {
      if (threadIdx.x < kTerms) terms[threadIdx.x] = TermOf(s, k + threadIdx.x);
      __syncthreads();
      for (int i = threadIdx.x; i < kTile * kTerms; i += kThreads) {
        // Neighbouring threads read neighbouring elements, where these are together.
        const int channel = i / kTerms, term = i % kTerms;
        const bool exists = first_channel + channel < channels && k + term < term_count;
        const long long row = group * channels + first_channel + channel;
        left[term][channel] = exists ? LoadElement(weights[row * term_count + k + term]) : Sum(0);
      }
      for (int i = threadIdx.x; i < kTile * kTerms; i += kThreads) {
        const int position = s.channels_last ? i / kTerms : i % kTile;
        const int term = s.channels_last ? i % kTerms : i / kTile;
        right[term][position] = k + term < term_count
                                    ? ElementAt(s, x, group, terms[term], positions[position])
                                    : Sum(0);
      }
      __syncthreads();
      for (int t = 0; t < kTerms; ++t) {
        Sum a[kEach], b[kEach];
        for (int c = 0; c < kEach; ++c) a[c] = left[t][own_channel + c * kSide];
        for (int p = 0; p < kEach; ++p) b[p] = right[t][own_position + p * kSide];
        for (int c = 0; c < kEach; ++c) {
          for (int p = 0; p < kEach; ++p) sums[c][p] += a[c] * b[p];
        }
      }
    }
    for (int c = 0; c < kEach; ++c) {
      const long long in_group = first_channel + own_channel + c * kSide;
      if (in_group >= channels) continue;
      const long long channel = group * channels + in_group;
      for (int p = 0; p < kEach; ++p) {
        const long long position = first_position + own_position + p * kSide;
        if (position >= position_count) continue;
        const long long each = s.out_rows * s.out_columns, place = position % each;
        const Sum sum = bias == nullptr ? sums[c][p] : sums[c][p] + LoadElement(bias[channel]);
        StoreElement(sum, out[ElementOffset(s.channels_last, s.out_channels, s.out_rows,
                                            s.out_columns, position / each, channel,
                                            place / s.out_columns, place % s.out_columns)]);
      }
    }
  }
}

template <class T>
void Launch(const WindowShape& s, const void* x, const void* weights, const void* bias, void* out,
            unsigned blocks, cudaStream_t stream) {
  Convolve<T><<<blocks, kThreads, 0, stream>>>(s, static_cast<const T*>(x),
                                               static_cast<const T*>(weights),
                                               static_cast<const T*>(bias), static_cast<T*>(out));
}

}  // namespace

cudaError_t LaunchConvolution(const WindowShape& s, const void* x, const void* weights,
                              const void* bias, void* out, cudaStream_t stream) {
  const long long positions = s.images * s.out_rows * s.out_columns;
  if (positions == 0 || s.out_channels == 0) return cudaSuccess;
  const long long tiles =
      (s.out_channels / s.groups + kTile - 1) / kTile * ((positions + kTile - 1) / kTile);
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, tiles * s.groups));
  switch (s.type) {
    case ImageType::kFloat16:
      Launch<__half>(s, x, weights, bias, out, blocks, stream);
      break;
    case ImageType::kBfloat16:
      Launch<__nv_bfloat16>(s, x, weights, bias, out, blocks, stream);
      break;
    case ImageType::kFloat32:
      Launch<float>(s, x, weights, bias, out, blocks, stream);
      break;
    case ImageType::kFloat64:
      Launch<double>(s, x, weights, bias, out, blocks, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
