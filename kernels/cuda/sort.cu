#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/sort.h"

namespace gpucall::cuda {
namespace {

// All elements of a chunk are sorted by their keys, then, stably, by their lines: whatever the
// number of lines and their lengths, that takes few launches.

using Position = unsigned;  // of an element in its chunk
using Line = unsigned;

constexpr int kThreads = 256;

// Where an element is.
struct Place {
  const SortRow& row;
  long long line, at;  // in the row, in the line
  __device__ long long Number(long long count) const {
    return (line / row.inner * count + at) * row.inner + line % row.inner;
  }
};

__device__ Place PlaceOf(const SortRow* rows, int row_count, long long element) {
  int low = 0;
  for (int size = row_count; size > 1;) {
    const int half = size / 2;
    const bool begun = rows[low + half].first <= element;
    low += begun ? half : 0;
    size = begun ? size - half : half;
  }
  const SortRow& row = rows[low];
  const long long in_row = element - row.first;
  const long long line = in_row / row.count;
  return {row, line, in_row - line * row.count};
}

__device__ unsigned ThreadNumber() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <class Key>
__global__ void __launch_bounds__(kThreads)
    MakeKeys(const SortRow* rows, int row_count, SortChunk chunk, sort::KeyRule rule, Key* keys,
             Position* positions) {
  const Position position = ThreadNumber();
  if (position >= chunk.elements) return;
  const Place place = PlaceOf(rows, row_count, chunk.first + position);
  const auto* const x = static_cast<const Key*>(place.row.x);
  keys[position] = sort::KeyOf(x[place.Number(place.row.count)], rule);
  positions[position] = position;
}

__global__ void __launch_bounds__(kThreads)
    MakeLines(const SortRow* rows, int row_count, SortChunk chunk, const Position* positions,
              Line* lines) {
  const Position t = ThreadNumber();
  if (t >= chunk.elements) return;
  const Place place = PlaceOf(rows, row_count, chunk.first + positions[t]);
  lines[t] = static_cast<Line>(place.row.first_line + place.line - chunk.first_line);
}

// Element number t of the chunk's order is of the line that has the chunk's element number t.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    GiveResults(const SortRow* rows, int row_count, SortChunk chunk, bool gives_indices,
                const Position* positions) {
  const Position t = ThreadNumber();
  if (t >= chunk.elements) return;
  const Place to = PlaceOf(rows, row_count, chunk.first + t);
  const SortRow& row = to.row;
  if (to.at >= row.kept) return;
  const long long line_start = row.first + to.line * row.count;
  const Place from = {row, to.line, chunk.first + positions[t] - line_start};
  if (gives_indices) {
    static_cast<long long*>(row.out)[to.Number(row.kept)] = from.at;
  } else {
    static_cast<Key*>(row.out)[to.Number(row.kept)] =
        static_cast<const Key*>(row.x)[from.Number(row.count)];
  }
}

// The parts of a chunk's scratch memory.
template <class Key>
struct Scratch {
  cub::DoubleBuffer<Key> keys;
  cub::DoubleBuffer<Line> lines;  // where keys are, which are not needed any more
  cub::DoubleBuffer<Position> positions;
  size_t used_bytes;  // by these; then comes what CUB needs

  Scratch(void* memory, long long elements) {
    const auto align = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
    const auto count = static_cast<size_t>(elements);
    const size_t key_bytes = align(count * std::max(sizeof(Key), sizeof(Line)));
    const size_t position_bytes = align(count * sizeof(Position));
    const auto both = [&]<class T>(cub::DoubleBuffer<T>& buffers, size_t offset, size_t bytes) {
      const auto start = reinterpret_cast<uintptr_t>(memory) + offset;
      buffers = {reinterpret_cast<T*>(start), reinterpret_cast<T*>(start + bytes)};
    };
    both(keys, 0, key_bytes);
    both(lines, 0, key_bytes);
    both(positions, 2 * key_bytes, position_bytes);
    used_bytes = 2 * (key_bytes + position_bytes);
  }
};

// With no temporary memory the number of its bytes, as all of CUB's functions.
template <class Key>
cudaError_t SortByKeys(void* temporary, size_t& temporary_bytes, Scratch<Key>& scratch,
                       const SortKind& kind, const SortChunk& chunk, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, scratch.keys,
                                         scratch.positions, static_cast<unsigned>(chunk.elements),
                                         0, sort::KeyBits(kind.rule, kind.bytes), stream);
}

template <class Key>
cudaError_t SortByLines(void* temporary, size_t& temporary_bytes, Scratch<Key>& scratch,
                        const SortChunk& chunk, cudaStream_t stream) {
  const int bits = std::bit_width(static_cast<unsigned>(chunk.lines - 1));
  return cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, scratch.lines,
                                         scratch.positions, static_cast<unsigned>(chunk.elements),
                                         0, bits, stream);
}

template <class Key>
cudaError_t ScratchBytes(const SortKind& kind, const SortChunk& chunk, long long* size_bytes) {
  Scratch<Key> scratch(nullptr, chunk.elements);
  size_t by_keys = 0, by_lines = 0;
  cudaError_t error = SortByKeys(nullptr, by_keys, scratch, kind, chunk, nullptr);
  if (error == cudaSuccess && chunk.lines > 1) {
    error = SortByLines(nullptr, by_lines, scratch, chunk, nullptr);
  }
  *size_bytes = static_cast<long long>(scratch.used_bytes + std::max(by_keys, by_lines));
  return error;
}

template <class Key>
cudaError_t Launch(const SortKind& kind, const SortRow* rows, int row_count, const SortChunk& chunk,
                   void* memory, long long memory_bytes, cudaStream_t stream) {
  Scratch<Key> scratch(memory, chunk.elements);
  void* const temporary = static_cast<std::byte*>(memory) + scratch.used_bytes;
  size_t temporary_bytes = static_cast<size_t>(memory_bytes) - scratch.used_bytes;
  const auto blocks = static_cast<unsigned>((chunk.elements + kThreads - 1) / kThreads);
  MakeKeys<Key><<<blocks, kThreads, 0, stream>>>(
      rows, row_count, chunk, kind.rule, scratch.keys.Current(), scratch.positions.Current());
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  error = SortByKeys(temporary, temporary_bytes, scratch, kind, chunk, stream);
  if (error != cudaSuccess) return error;
  if (chunk.lines > 1) {
    MakeLines<<<blocks, kThreads, 0, stream>>>(rows, row_count, chunk, scratch.positions.Current(),
                                               scratch.lines.Current());
    error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    error = SortByLines(temporary, temporary_bytes, scratch, chunk, stream);
    if (error != cudaSuccess) return error;
  }
  GiveResults<Key><<<blocks, kThreads, 0, stream>>>(rows, row_count, chunk, kind.gives_indices,
                                                    scratch.positions.Current());
  return cudaGetLastError();
}

}  // namespace

cudaError_t SortScratchBytes(const SortKind& kind, const SortChunk& chunk, long long* size_bytes) {
  switch (kind.bytes) {
    case 1:
      return ScratchBytes<uint8_t>(kind, chunk, size_bytes);
    case 2:
      return ScratchBytes<uint16_t>(kind, chunk, size_bytes);
    case 4:
      return ScratchBytes<uint32_t>(kind, chunk, size_bytes);
    default:
      return ScratchBytes<uint64_t>(kind, chunk, size_bytes);
  }
}

cudaError_t LaunchSort(const SortKind& kind, const SortRow* rows, int row_count,
                       const SortChunk& chunk, void* scratch, long long scratch_bytes,
                       cudaStream_t stream) {
  switch (kind.bytes) {
    case 1:
      return Launch<uint8_t>(kind, rows, row_count, chunk, scratch, scratch_bytes, stream);
    case 2:
      return Launch<uint16_t>(kind, rows, row_count, chunk, scratch, scratch_bytes, stream);
    case 4:
      return Launch<uint32_t>(kind, rows, row_count, chunk, scratch, scratch_bytes, stream);
    default:
      return Launch<uint64_t>(kind, rows, row_count, chunk, scratch, scratch_bytes, stream);
  }
}

}  // namespace gpucall::cuda
