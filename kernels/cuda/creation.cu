#include <cuda_runtime.h>

#include "kernels/cuda/creation.h"

namespace gpucall::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 8;  // elements that a thread makes

// The last row that starts at or before this block.
__device__ const CreationRow& FindRow(const CreationRow* rows, int row_count) {
  int low = 0;
  for (int size = row_count; size > 1;) {
    const int half = size / 2;
    const bool begun = rows[low + half].first_block <= blockIdx.x;
    low += begun ? half : 0;
    size = begun ? size - half : half;
  }
  return rows[low];
}

template <class T>
__global__ void __launch_bounds__(kThreads) Create(const CreationRow* rows, int row_count) {
  const CreationRow& row = FindRow(rows, row_count);
  const creation::Recipe recipe = row.recipe;
  auto* const out = static_cast<T*>(row.out);
  const long long block = static_cast<long long>(blockIdx.x) - row.first_block;
  const long long first = block * kThreads * kEach + threadIdx.x;
  for (int k = 0; k < kEach; ++k) {
    const long long i = first + k * kThreads;
    if (i < row.count) out[i] = creation::ElementAt<T>(recipe, static_cast<uint64_t>(i));
  }
}

template <class T>
cudaError_t Launch(const CreationRow* rows, int row_count, long long block_count,
                   cudaStream_t stream) {
  Create<T><<<static_cast<unsigned>(block_count), kThreads, 0, stream>>>(rows, row_count);
  return cudaGetLastError();
}

}  // namespace

long long CreationBlockCount(const CreationRow& row) {
  return (row.count + kThreads * kEach - 1) / (kThreads * kEach);
}

cudaError_t LaunchCreate(const CreationRow* rows, int row_count, long long block_count,
                         bool is_floating, int element_bytes, cudaStream_t stream) {
  if (block_count == 0) return cudaSuccess;
  if (is_floating) {
    return element_bytes == 4 ? Launch<float>(rows, row_count, block_count, stream)
                              : Launch<double>(rows, row_count, block_count, stream);
  }
  switch (element_bytes) {
    case 1:
      return Launch<uint8_t>(rows, row_count, block_count, stream);
    case 2:
      return Launch<uint16_t>(rows, row_count, block_count, stream);
    case 4:
      return Launch<uint32_t>(rows, row_count, block_count, stream);
    default:
      return Launch<uint64_t>(rows, row_count, block_count, stream);
  }
}

}  // namespace gpucall::cuda
