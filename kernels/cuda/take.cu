#include <cuda_runtime.h>

#include "kernels/cuda/take.h"

namespace gpucall::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 4;  // elements that a thread takes

template <int kBytes>
struct alignas(kBytes) Piece {
  unsigned char bytes[kBytes];
};

// The last row that starts at or before this block.
__device__ const TakeRow& FindRow(const TakeRow* rows, int row_count) {
  int low = 0;
  for (int size = row_count; size > 1;) {
    const int half = size / 2;
    const bool begun = rows[low + half].first_block <= blockIdx.x;
    low += begun ? half : 0;
    size = begun ? size - half : half;
  }
  return rows[low];
}

struct Places {
  long long x = 0, index = 0;
};

template <class Number>
__device__ Places PlacesOf(const TakeRow& row, Number number) {
  Places places;
  for (int d = 0; d < row.rank; ++d) {
    const auto size = static_cast<Number>(row.sizes[d]);
    const bool last = d + 1 == row.rank;
    const auto at = static_cast<long long>(last ? number : number % size);
    if (!last) number /= size;
    places.x += at * row.x_strides[d];
    places.index += at * row.index_strides[d];
  }
  return places;
}

__device__ void Report(IndexFault* fault, unsigned long long step, long long index) {
  if (atomicCAS(&fault->step, 0ull, step) == 0) fault->index = index;
}

template <int kBytes, class Index>
__global__ void __launch_bounds__(kThreads)
    Take(const TakeRow* rows, int row_count, unsigned long long step) {
  const TakeRow& row = FindRow(rows, row_count);
  const auto* const x = static_cast<const Piece<kBytes>*>(row.x);
  const auto* const indices = static_cast<const Index*>(row.indices);
  auto* const out = static_cast<Piece<kBytes>*>(row.out);
  const long long block = static_cast<long long>(blockIdx.x) - row.first_block;
  const long long first = block * kThreads * kEach + threadIdx.x;
  Places places[kEach];
  Index read[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const long long number = first + k * kThreads;
    if (number >= row.count) continue;
    places[k] = row.count <= 0x7fffffff ? PlacesOf(row, static_cast<unsigned>(number))
                                        : PlacesOf(row, static_cast<unsigned long long>(number));
    read[k] = indices[places[k].index];
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const long long number = first + k * kThreads;
    if (number >= row.count) continue;
    const long long index = read[k] < 0 ? read[k] + row.size : read[k];
    if (index >= 0 && index < row.size) {
      out[number] = x[places[k].x + index * row.stride];
    } else {
      Report(row.fault, step, read[k]);
    }
  }
}

template <int kBytes>
void Launch(const TakeRow* rows, int row_count, unsigned blocks, int index_bytes,
            unsigned long long step, cudaStream_t stream) {
  if (index_bytes == 4) {
    Take<kBytes, int><<<blocks, kThreads, 0, stream>>>(rows, row_count, step);
  } else {
    Take<kBytes, long long><<<blocks, kThreads, 0, stream>>>(rows, row_count, step);
  }
}

}  // namespace

long long TakeBlockCount(const TakeRow& row) {
  return (row.count + kThreads * kEach - 1) / (kThreads * kEach);
}

cudaError_t LaunchTake(const TakeRow* rows, int row_count, long long block_count, int element_bytes,
                       int index_bytes, unsigned long long step, cudaStream_t stream) {
  if (block_count == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(block_count);
  switch (element_bytes) {
    case 1:
      Launch<1>(rows, row_count, blocks, index_bytes, step, stream);
      break;
    case 2:
      Launch<2>(rows, row_count, blocks, index_bytes, step, stream);
      break;
    case 4:
      Launch<4>(rows, row_count, blocks, index_bytes, step, stream);
      break;
    case 8:
      Launch<8>(rows, row_count, blocks, index_bytes, step, stream);
      break;
    default:
      Launch<16>(rows, row_count, blocks, index_bytes, step, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
