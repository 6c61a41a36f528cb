// As a product of matrices that are never made: the weights, and the elements under each output
// position's window. A block has a tile of channels x positions, a thread 8 x 8 of them (8 x 4 of
// doubles); terms are read while those before are multiplied.
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/network_terms.cuh"

namespace gpucall::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kChannels = 8;  // of a thread
constexpr long long kMaxBlocks = 1 << 20;

// Sums that are read and written in one piece.
template <class Sum>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(Sum);
  Sum of[kSize];
};

template <class T, int kTileChannels>
class Tile {
 public:
  using Sum = typename ImageSum<T>::Type;
  using Packs = Pack<Sum>;
  static constexpr int kRows = kTileChannels / kChannels;  // of threads
  static constexpr int kColumns = kThreads / kRows;
  static constexpr int kPositions = 2 * Packs::kSize;  // of a thread: a pack in each half
  static constexpr int kTilePositions = kColumns * kPositions;
  static constexpr int kReads = kTilePositions / kThreads;  // positions that a thread reads
  static_assert(kReads > 0);
  static constexpr int kWeights = kTileChannels * kTerms / kThreads;
  static constexpr int kWeightStride = kTileChannels + 4;

  struct Shared {
    alignas(16) Sum elements[2][kTerms][kTilePositions];
    alignas(16) Sum weights[2][kTerms][kWeightStride];
    Term terms[2][kTerms];
  };

  __device__ Tile(const WindowShape& s, const T* x, const T* weights, long long tile,
                  Shared& shared)
      : s_(s),
        strides_(s, s.channels, s.rows, s.columns),
        shared_(shared),
        term_count_(static_cast<unsigned>(Divide(s.channels, s.groups) * s.size[0] * s.size[1])),
        terms_(s, threadIdx.x % kTerms) {
    const long long channels = Divide(s.out_channels, s.groups);
    const long long position_tiles = (PositionCount() + kTilePositions - 1) / kTilePositions;
    const long long channel_tiles = (channels + kTileChannels - 1) / kTileChannels;
    const long long row = Divide(tile, position_tiles);
    group_ = Divide(row, channel_tiles);
    first_channel_ = (row - group_ * channel_tiles) * kTileChannels;
    first_position_ = (tile - row * position_tiles) * kTilePositions;
    weights_ = weights + (group_ * channels + first_channel_) * term_count_;
    channel_count_ = static_cast<int>(min(channels - first_channel_, (long long)kTileChannels));
    const T* const from = x + group_ * Divide(s.channels, s.groups) * strides_.channel;
    for (int i = 0; i < kReads; ++i) PlaceRead(from, i);
  }

  __device__ void Multiply() {
    const unsigned steps = (term_count_ + kTerms - 1) / kTerms;
    if (steps == 0) return;  // there is no first weight
    SetTerms(0);
    __syncthreads();
    Read(0);
    Write(0);
    SetTerms(1);
    __syncthreads();
    for (unsigned step = 0; step < steps; ++step) {
      if (step + 1 < steps) Read(step + 1);
      MultiplyStep(step % 2);
      if (step + 1 < steps) Write(step + 1);
      SetTerms(step + 2);
      __syncthreads();
    }
  }

  __device__ void Store(const T* bias, T* out) const {
    const Strides strides(s_, s_.out_channels, s_.out_rows, s_.out_columns);
    const long long channels = Divide(s_.out_channels, s_.groups);
    const int own = OwnRow() * kChannels;
    for (int p = 0; p < kPositions; ++p) {
      const long long position = first_position_ + OwnPosition(p);
      if (position >= PositionCount()) continue;
      const Position place(s_, position);
      T* const at =
          out + place.image * strides.image + place.y * strides.row + place.x * strides.column;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        if (own + c >= channel_count_) break;
        const long long channel = group_ * channels + first_channel_ + own + c;
        const Sum sum = sums_[c][p];
        StoreElement(bias == nullptr ? sum : sum + LoadElement(bias[channel]),
                     at[channel * strides.channel]);
      }
    }
  }

 private:
  __device__ static int OwnRow() { return threadIdx.x / kColumns; }
  __device__ static int OwnPosition(int p) {
    const int half = p / Packs::kSize, in_pack = p % Packs::kSize;
    return half * (kTilePositions / 2) + threadIdx.x % kColumns * Packs::kSize + in_pack;
  }
  __device__ long long PositionCount() const { return s_.images * s_.out_rows * s_.out_columns; }

  // Where the windows begin that this thread reads. Past the last position all is outside.
  __device__ void PlaceRead(const T* from, int i) {
    const long long position = first_position_ + threadIdx.x + i * kThreads;
    const Position place(s_, position);
    const long long y = place.y * s_.stride[0] - s_.before[0];
    const long long x = place.x * s_.stride[1] - s_.before[1];
    const bool exists = position < PositionCount();
    y_[i] = exists ? static_cast<int>(y) : kOutside;
    x_[i] = static_cast<int>(x);
    windows_[i] = from + place.image * strides_.image + y * strides_.row + x * strides_.column;
  }

  __device__ void SetTerms(unsigned step) {
    if (threadIdx.x < kTerms) shared_.terms[step % 2][threadIdx.x] = terms_.Take(s_, strides_);
  }

  // Loads wait for no condition and for no other load: what is outside reads the first weight, and
  // is zero when it is written.
  __device__ void Read(unsigned step) {
    inside_ = 0;
#pragma unroll
    for (int i = 0; i < kWeights; ++i) {
      const int at = threadIdx.x + i * kThreads, channel = at / kTerms;
      const unsigned term = step * kTerms + at % kTerms;
      const bool exists = channel < channel_count_ && term < term_count_;
      const long long place = static_cast<long long>(channel) * term_count_ + term;
      read_weights_[i] = weights_[exists ? place : 0];
      inside_ |= exists ? 1ull << i : 0ull;
    }
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
      const Term term = shared_.terms[step % 2][t];
      const bool exists = step * kTerms + t < term_count_;
#pragma unroll
      for (int i = 0; i < kReads; ++i) {
        const bool inside = exists & (static_cast<unsigned>(y_[i] + RowOf(term)) < rows_) &
                            (static_cast<unsigned>(x_[i] + ColumnOf(term)) < columns_);
        read_[t][i] = *(inside ? windows_[i] + term.x : weights_);
        inside_ |= inside ? 1ull << (kWeights + t * kReads + i) : 0ull;
      }
    }
  }

  __device__ void Write(unsigned step) {
#pragma unroll
    for (int i = 0; i < kWeights; ++i) {
      const int at = threadIdx.x + i * kThreads;
      shared_.weights[step % 2][at % kTerms][at / kTerms] = IfInside(read_weights_[i], i);
    }
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
#pragma unroll
      for (int i = 0; i < kReads; ++i) {
        shared_.elements[step % 2][t][threadIdx.x + i * kThreads] =
            IfInside(read_[t][i], kWeights + t * kReads + i);
      }
    }
  }
  __device__ Sum IfInside(T element, int bit) const {
    return (inside_ >> bit & 1) != 0 ? LoadElement(element) : Sum(0);
  }

  __device__ void MultiplyStep(unsigned buffer) {
    constexpr int kPacks = kChannels / Packs::kSize;
#pragma unroll
    for (int t = 0; t < kTerms; ++t) {
      const auto* const weights =
          reinterpret_cast<const Packs*>(shared_.weights[buffer][t] + OwnRow() * kChannels);
      Packs a[kPacks], b[2];
#pragma unroll
      for (int i = 0; i < kPacks; ++i) a[i] = weights[i];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        b[i] = *reinterpret_cast<const Packs*>(shared_.elements[buffer][t] +
                                               OwnPosition(i * Packs::kSize));
      }
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
#pragma unroll
        for (int p = 0; p < kPositions; ++p) {
          sums_[c][p] +=
              a[c / Packs::kSize].of[c % Packs::kSize] * b[p / Packs::kSize].of[p % Packs::kSize];
        }
      }
    }
  }

  static constexpr int kOutside = -(1 << 30) - (1 << 29);

  const WindowShape& s_;
  const Strides strides_;
  Shared& shared_;
  const unsigned term_count_;
  const unsigned rows_ = static_cast<unsigned>(s_.rows),
                 columns_ = static_cast<unsigned>(s_.columns);
  Terms terms_;
  long long group_, first_channel_, first_position_;
  int channel_count_;
  const T* weights_;
  const T* windows_[kReads];
  int y_[kReads], x_[kReads];
  T read_weights_[kWeights], read_[kTerms][kReads];
  unsigned long long inside_ = 0;  // bits of what was read: weights, then elements
  static_assert(kWeights + kTerms * kReads <= 64);
  Sum sums_[kChannels][kPositions] = {};
};

// A block for each tile of each group, in turns.
template <class T, int kTileChannels>
__global__ void __launch_bounds__(kThreads, sizeof(T) < 8 ? 3 : 2)
    Convolve(const __grid_constant__ WindowShape s, long long tiles, const T* x, const T* weights,
             const T* bias, T* out) {
  __shared__ typename Tile<T, kTileChannels>::Shared shared;
  for (long long i = blockIdx.x; i < tiles; i += gridDim.x) {
    Tile<T, kTileChannels> tile(s, x, weights, i, shared);
    tile.Multiply();
    tile.Store(bias, out);
  }
}

struct Arguments {
  const WindowShape& s;
  const void *x, *weights, *bias;
  void* out;
};

template <class T, int kTileChannels>
void Launch(const Arguments& a, cudaStream_t stream) {
  constexpr int kTilePositions = Tile<T, kTileChannels>::kTilePositions;
  const long long positions = a.s.images * a.s.out_rows * a.s.out_columns;
  const long long channels = a.s.out_channels / a.s.groups;
  const long long tiles = a.s.groups * ((channels + kTileChannels - 1) / kTileChannels) *
                          ((positions + kTilePositions - 1) / kTilePositions);
  Convolve<T, kTileChannels>
      <<<static_cast<unsigned>(std::min(kMaxBlocks, tiles)), kThreads, 0, stream>>>(
          a.s, tiles, static_cast<const T*>(a.x), static_cast<const T*>(a.weights),
          static_cast<const T*>(a.bias), static_cast<T*>(a.out));
}

template <class T>
void Launch(const Arguments& a, cudaStream_t stream) {
  const long long channels = a.s.out_channels / a.s.groups;
  if (channels <= 16) return Launch<T, 16>(a, stream);
  if constexpr (sizeof(T) < 8) {
    if (channels > 32) return Launch<T, 64>(a, stream);
  }
  Launch<T, 32>(a, stream);
}

}  // namespace

cudaError_t LaunchConvolution(const WindowShape& s, const void* x, const void* weights,
                              const void* bias, void* out, cudaStream_t stream) {
  if (s.images * s.out_rows * s.out_columns == 0 || s.out_channels == 0) return cudaSuccess;
  const Arguments arguments = {s, x, weights, bias, out};
  switch (s.type) {
    case ImageType::kFloat16:
      Launch<__half>(arguments, stream);
      break;
    case ImageType::kBfloat16:
      Launch<__nv_bfloat16>(arguments, stream);
      break;
    case ImageType::kFloat32:
      Launch<float>(arguments, stream);
      break;
    case ImageType::kFloat64:
      Launch<double>(arguments, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
