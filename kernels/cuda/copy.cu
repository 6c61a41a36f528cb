#include <cuda_runtime.h>

#include <cstring>

#include "kernels/cuda/copy.h"

namespace gpucall::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 8;  // elements that a thread copies
constexpr int kTile = 32;
constexpr int kMinTurned = 8;

template <int kBytes>
struct alignas(kBytes) Piece {
  unsigned char bytes[kBytes];
};

// The last part that starts at or before this block. All threads of a warp take part.
__device__ const CopyPart& FindPart(const CopyPart* parts, int part_count) {
  int low = 0;
  for (int size = part_count; size > 1;) {
    const int step = (size + 31) / 32;
    const int at = static_cast<int>(threadIdx.x % 32) * step;
    const bool begun = at < size && parts[low + at].first_block <= blockIdx.x;
    const int skipped = (__popc(__ballot_sync(0xffffffffu, begun)) - 1) * step;
    low += skipped;
    size = min(step, size - skipped);
  }
  return parts[low];
}

struct Places {
  long long input = 0, output = 0;
};

// Adds coordinate index % size of a dimension, and leaves the other dimensions' part of `index`.
template <class Index>
__device__ void Advance(const CopyPart& part, int d, Index& index, Places& places) {
  const Index size = static_cast<Index>(part.sizes[d]);
  const long long at = static_cast<long long>(index % size);
  index /= size;
  places.input += at * part.input_strides[d];
  places.output += at * part.output_strides[d];
}

template <class Index>
__device__ Places PlacesOf(const CopyPart& part, Index index) {
  Places places;
  for (int d = 0; d + 1 < part.rank; ++d) Advance(part, d, index, places);
  const int last = part.rank - 1;
  places.input += static_cast<long long>(index) * part.input_strides[last];
  places.output += static_cast<long long>(index) * part.output_strides[last];
  return places;
}

template <int kBytes>
__device__ void CopyElements(const CopyPart& part, long long block) {
  const auto* const x = static_cast<const Piece<kBytes>*>(part.x);
  auto* const out = static_cast<Piece<kBytes>*>(part.out);
  const long long first = block * kThreads * kEach + threadIdx.x;
  Piece<kBytes> read[kEach];
  long long targets[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const long long index = first + k * kThreads;
    targets[k] = -1;
    if (index >= part.count) continue;
    const Places places = part.count <= 0x7fffffff
                              ? PlacesOf(part, static_cast<unsigned>(index))
                              : PlacesOf(part, static_cast<unsigned long long>(index));
    targets[k] = places.output;
    read[k] = x == nullptr ? *reinterpret_cast<const Piece<kBytes>*>(part.fill) : x[places.input];
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    if (targets[k] >= 0) out[targets[k]] = read[k];
  }
}

// A tile of dimension 0, along which the output lies, and of part.turned, along which the input
// does, through shared memory.
template <int kBytes>
__device__ void CopyTurned(const CopyPart& part, long long block) {
  __shared__ Piece<kBytes> tile[kTile][kTile + 1];
  const long long across = part.sizes[0], down = part.sizes[part.turned];
  const long long tiles_across = (across + kTile - 1) / kTile;
  const long long tiles_down = (down + kTile - 1) / kTile;
  const long long left = block % tiles_across * kTile;
  const long long top = block / tiles_across % tiles_down * kTile;
  unsigned long long rest = static_cast<unsigned long long>(block / tiles_across / tiles_down);
  Places places;
  for (int d = 1; d < part.rank; ++d) {
    if (d != part.turned) Advance(part, d, rest, places);
  }
  const auto* const x = static_cast<const Piece<kBytes>*>(part.x) + places.input;
  auto* const out = static_cast<Piece<kBytes>*>(part.out) + places.output;
  const int lane = threadIdx.x % kTile;
  for (int i = threadIdx.x / kTile; i < kTile; i += kThreads / kTile) {
    if (left + i < across && top + lane < down) {
      tile[i][lane] = x[(left + i) * part.input_strides[0] + (top + lane)];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x / kTile; i < kTile; i += kThreads / kTile) {
    if (left + lane < across && top + i < down) {
      out[(left + lane) * part.output_strides[0] + (top + i) * part.output_strides[part.turned]] =
          tile[lane][i];
    }
  }
}

template <int kBytes>
__device__ void CopyBlock(const CopyPart& part, long long block) {
  if (part.turned > 0) {
    CopyTurned<kBytes>(part, block);
  } else {
    CopyElements<kBytes>(part, block);
  }
}

__global__ void __launch_bounds__(kThreads) Copy(const CopyPart* parts, int part_count) {
  const CopyPart& part = FindPart(parts, part_count);
  const long long block = static_cast<long long>(blockIdx.x) - part.first_block;
  switch (part.element_bytes) {
    case 1:
      return CopyBlock<1>(part, block);
    case 2:
      return CopyBlock<2>(part, block);
    case 4:
      return CopyBlock<4>(part, block);
    case 8:
      return CopyBlock<8>(part, block);
    default:
      return CopyBlock<16>(part, block);
  }
}

// Whether elements may move `times` at once.
bool Widens(const CopyPart& part, int times) {
  const auto fits = [&](long long number) { return number % times == 0; };
  const auto bytes = static_cast<uint64_t>(part.element_bytes) * times;
  bool widens = part.output_strides[0] == 1 && fits(part.sizes[0]) &&
                reinterpret_cast<uint64_t>(part.out) % bytes == 0;
  if (part.x != nullptr) {
    widens =
        widens && part.input_strides[0] == 1 && reinterpret_cast<uint64_t>(part.x) % bytes == 0;
  }
  for (int d = 1; d < part.rank && widens; ++d) {
    widens = fits(part.input_strides[d]) && fits(part.output_strides[d]);
  }
  return widens;
}

void Widen(CopyPart& part, int times) {
  part.element_bytes *= times;
  part.count /= times;
  part.sizes[0] /= times;
  for (int d = 1; d < part.rank; ++d) {
    part.input_strides[d] /= times;
    part.output_strides[d] /= times;
  }
}

}  // namespace

CopyPart MakeCopyPart(uint64_t x, uint64_t out, int element_bytes, std::span<const int64_t> sizes,
                      std::span<const int64_t> input_strides,
                      std::span<const int64_t> output_strides, const void* fill) {
  CopyPart part = {};
  part.x = reinterpret_cast<const void*>(x);
  part.out = reinterpret_cast<void*>(out);
  part.element_bytes = element_bytes;
  part.count = part.sizes[0] = 1;
  part.rank = sizes.empty() ? 1 : static_cast<int>(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const size_t from = sizes.size() - 1 - d;
    part.sizes[d] = sizes[from];
    part.input_strides[d] = x == 0 ? 0 : input_strides[from];
    part.output_strides[d] = output_strides[from];
    part.count *= sizes[from];
  }
  for (size_t at = 0; at < sizeof(part.fill); at += static_cast<size_t>(element_bytes)) {
    std::memcpy(reinterpret_cast<char*>(part.fill) + at, fill, static_cast<size_t>(element_bytes));
  }
  for (int times = 16 / element_bytes; times > 1; times /= 2) {
    if (!Widens(part, times)) continue;
    Widen(part, times);
    break;
  }
  if (x == 0 || part.input_strides[0] == 1 || part.sizes[0] < kMinTurned) return part;
  for (int d = 1; d < part.rank; ++d) {
    if (part.input_strides[d] == 1 && part.sizes[d] >= kMinTurned) part.turned = d;
  }
  return part;
}

long long CopyBlockCount(const CopyPart& part) {
  if (part.turned == 0) return (part.count + kThreads * kEach - 1) / (kThreads * kEach);
  const long long across = part.sizes[0], down = part.sizes[part.turned];
  return (across + kTile - 1) / kTile * ((down + kTile - 1) / kTile) * (part.count / across / down);
}

cudaError_t LaunchCopy(const CopyPart* parts, int part_count, long long block_count,
                       cudaStream_t stream) {
  if (block_count == 0) return cudaSuccess;
  Copy<<<static_cast<unsigned>(block_count), kThreads, 0, stream>>>(parts, part_count);
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
