#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/matmul_integer.h"

namespace gpucall::cuda {
namespace {

constexpr int kTile = 64;   // rows and columns of a block's tile
constexpr int kTerms = 16;  // summed at a time
constexpr int kEach = 4;    // rows and columns of a thread
constexpr int kSide = kTile / kEach;
constexpr int kThreads = kSide * kSide;
constexpr long long kMaxBlocks = 1 << 20;

template <class Sum>
__device__ Sum Load(const void* data, long long index, IntegerType type) {
  switch (type.bytes) {
    case 1:
      return type.is_signed ? static_cast<Sum>(static_cast<const signed char*>(data)[index])
                            : static_cast<Sum>(static_cast<const unsigned char*>(data)[index]);
    case 2:
      return type.is_signed ? static_cast<Sum>(static_cast<const short*>(data)[index])
                            : static_cast<Sum>(static_cast<const unsigned short*>(data)[index]);
    case 4:
      return type.is_signed ? static_cast<Sum>(static_cast<const int*>(data)[index])
                            : static_cast<Sum>(static_cast<const unsigned*>(data)[index]);
    default:
      return static_cast<Sum>(static_cast<const unsigned long long*>(data)[index]);
  }
}

template <class Sum>
__device__ void Store(Sum sum, void* data, long long index, IntegerType type) {
  switch (type.bytes) {
    case 1:
      static_cast<unsigned char*>(data)[index] = static_cast<unsigned char>(sum);
      break;
    case 2:
      static_cast<unsigned short*>(data)[index] = static_cast<unsigned short>(sum);
      break;
    case 4:
      static_cast<unsigned*>(data)[index] = static_cast<unsigned>(sum);
      break;
    default:
      static_cast<unsigned long long*>(data)[index] = static_cast<unsigned long long>(sum);
      break;
  }
}

// Whether the sum, cut to the type, is below 0.
template <class Sum>
__device__ bool IsNegative(Sum sum, IntegerType type) {
  return type.is_signed && (sum >> (8 * type.bytes - 1) & 1) != 0;
}

template <class Sum>
__device__ void Finish(const IntegerProducts& p, long long product, long long row, long long column,
                       Sum sum) {
  sum *= static_cast<Sum>(p.alpha);
  if (p.addend != nullptr) {
    const long long at =
        product * p.stride_addend + row * p.addend_row_stride + column * p.addend_column_stride;
    sum += static_cast<Sum>(p.beta) * Load<Sum>(p.addend, at, p.out_type);
  }
  if (p.bias != nullptr) sum += Load<Sum>(p.bias, product * p.stride_bias + column, p.out_type);
  if (p.relu && IsNegative(sum, p.out_type)) sum = 0;
  Store(sum, p.out, product * p.stride_out + row * p.n + column, p.out_type);
}

template <class Sum>
using Block = Sum[kTerms][kTile + 1];

// `rows` x `terms` of op(a) as a[term][row], zeros past the ends. `row_step`, `term_step`: from one
// element to the next.
template <class Sum>
__device__ void LoadBlock(const void* data, IntegerType type, long long first, long long row_step,
                          long long term_step, long long rows, long long terms, Block<Sum>& block) {
  for (int i = threadIdx.x; i < kTile * kTerms; i += kThreads) {
    // Neighbouring threads read neighbouring elements.
    const int row = term_step == 1 ? i / kTerms : i % kTile;
    const int term = term_step == 1 ? i % kTerms : i / kTile;
    const bool exists = row < rows && term < terms;
    block[term][row] =
        exists ? Load<Sum>(data, first + row * row_step + term * term_step, type) : Sum(0);
  }
}

// A block for each tile of each product, in turns.
template <class Sum>
__global__ void __launch_bounds__(kThreads) Multiply(IntegerProducts p) {
  __shared__ Block<Sum> a, b;
  const long long tile_columns = (p.n + kTile - 1) / kTile;
  const long long tiles = (p.m + kTile - 1) / kTile * tile_columns;
  const int own_row = threadIdx.x / kSide, own_column = threadIdx.x % kSide;
  const long long a_row_step = p.transpose_a ? 1 : p.k, a_term_step = p.transpose_a ? p.m : 1;
  const long long b_row_step = p.transpose_b ? p.k : 1, b_term_step = p.transpose_b ? 1 : p.n;
  for (long long i = blockIdx.x; i < tiles * p.count; i += gridDim.x) {
    const long long product = i / tiles;
    const long long first_row = i % tiles / tile_columns * kTile;
    const long long first_column = i % tiles % tile_columns * kTile;
    Sum sums[kEach][kEach] = {};
    for (long long k = 0; k < p.k; k += kTerms) {
      LoadBlock<Sum>(p.a, p.a_type, product * p.stride_a + first_row * a_row_step + k * a_term_step,
                     a_row_step, a_term_step, p.m - first_row, p.k - k, a);
      LoadBlock<Sum>(p.b, p.b_type,
                     product * p.stride_b + first_column * b_row_step + k * b_term_step, b_row_step,
                     b_term_step, p.n - first_column, p.k - k, b);
      __syncthreads();
      for (int t = 0; t < kTerms; ++t) {
        Sum left[kEach], right[kEach];
        for (int r = 0; r < kEach; ++r) left[r] = a[t][own_row + r * kSide];
        for (int c = 0; c < kEach; ++c) right[c] = b[t][own_column + c * kSide];
        for (int r = 0; r < kEach; ++r) {
          for (int c = 0; c < kEach; ++c) sums[r][c] += left[r] * right[c];
        }
      }
      __syncthreads();
    }
    for (int r = 0; r < kEach; ++r) {
      for (int c = 0; c < kEach; ++c) {
        const long long row = first_row + own_row + r * kSide;
        const long long column = first_column + own_column + c * kSide;
        if (row < p.m && column < p.n) Finish(p, product, row, column, sums[r][c]);
      }
    }
  }
}

// A block for each tile, in turns; a thread moves words of four bytes.
constexpr int kTurned = 64, kWords = kTurned / 4;

__global__ void __launch_bounds__(kThreads) TransposeBytes(ByteMatrices m) {
  __shared__ unsigned words[kTurned][kWords + 1];
  const auto* const bytes = reinterpret_cast<const unsigned char*>(words);
  const long long tile_columns = (m.columns + kTurned - 1) / kTurned;
  const long long tiles = (m.rows + kTurned - 1) / kTurned * tile_columns;
  for (long long i = blockIdx.x; i < tiles * m.count; i += gridDim.x) {
    const long long matrix = i / tiles, tile = i % tiles;
    const long long row = tile / tile_columns * kTurned, column = tile % tile_columns * kTurned;
    const auto* const x = static_cast<const unsigned char*>(m.x) + matrix * m.stride;
    auto* const out = static_cast<unsigned char*>(m.out) + matrix * m.rows * m.columns;
    for (int at = threadIdx.x; at < kTurned * kWords; at += kThreads) {
      const int r = at / kWords, w = at % kWords;
      if (row + r < m.rows && column + 4 * w < m.columns) {
        words[r][w] =
            *reinterpret_cast<const unsigned*>(x + (row + r) * m.columns + column + 4 * w);
      }
    }
    __syncthreads();
    for (int at = threadIdx.x; at < kTurned * kWords; at += kThreads) {
      const int c = at / kWords, w = at % kWords;
      if (column + c < m.columns && row + 4 * w < m.rows) {
        unsigned word = 0;
        for (int b = 3; b >= 0; --b) {
          word = word << 8 | bytes[(4 * w + b) * 4 * (kWords + 1) + c];
        }
        *reinterpret_cast<unsigned*>(out + (column + c) * m.rows + row + 4 * w) = word;
      }
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t LaunchTransposeBytes(const ByteMatrices& m, cudaStream_t stream) {
  const long long tiles =
      (m.rows + kTurned - 1) / kTurned * ((m.columns + kTurned - 1) / kTurned) * m.count;
  if (tiles == 0) return cudaSuccess;
  TransposeBytes<<<static_cast<unsigned>(std::min(kMaxBlocks, tiles)), kThreads, 0, stream>>>(m);
  return cudaGetLastError();
}

cudaError_t LaunchIntegerProducts(const IntegerProducts& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0 || p.count == 0) return cudaSuccess;
  const long long tiles = (p.m + kTile - 1) / kTile * ((p.n + kTile - 1) / kTile) * p.count;
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, tiles));
  if (p.out_type.bytes == 8) {
    Multiply<unsigned long long><<<blocks, kThreads, 0, stream>>>(p);
  } else {
    Multiply<unsigned><<<blocks, kThreads, 0, stream>>>(p);
  }
  return cudaGetLastError();
}

}  // namespace gpucall::cuda
