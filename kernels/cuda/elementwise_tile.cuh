// What generated elementwise kernels are made of: text for NVRTC (elementwise_source.cc).
//
// A block computes a tile of one row: kThreads * kVectors groups of kWidth neighbouring elements;
// group v of a thread starts at `index` + v * kThreads * kWidth.
namespace gpucall::elementwise {

constexpr int kThreads = 256;

// What of a negative exponent fits the word that tells of it.
template <class T>
__device__ int FaultWord(T exponent) {
  constexpr long long kLeast = -0x7fffffff - 1;
  return static_cast<int>(exponent < kLeast ? kLeast : static_cast<long long>(exponent));
}

template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Group {
  T at[kWidth];
};

// The last row of the table that starts at or before this block. All threads of a warp take part.
template <class Row>
__device__ const Row& FindRow(const Row* table, int row_count) {
  int low = 0;
  for (int size = row_count; size > 1;) {
    const int step = (size + 31) / 32;
    const int at = static_cast<int>(threadIdx.x % 32) * step;
    const bool begun = at < size && table[low + at].first_block <= blockIdx.x;
    const int skipped = (__popc(__ballot_sync(0xffffffffu, begun)) - 1) * step;
    low += skipped;
    size = min(step, size - skipped);
  }
  return table[low];
}

// Where this thread's first group starts in its row.
template <class Row>
__device__ long long FirstIndex(const Row& row, int width, int vectors) {
  return ((blockIdx.x - row.first_block) * vectors * kThreads + threadIdx.x) * width;
}

// True where the block's tile lies inside the row, aligned: it moves as groups. Elsewhere it moves
// element by element, and what is read past the end is the last element.
template <class Row>
__device__ bool IsWhole(const Row& row, int width, int vectors) {
  const long long tile = kThreads * vectors * width;
  return row.aligned && (blockIdx.x - row.first_block + 1) * tile <= row.count;
}

template <class T, int kWidth, int kVectors>
__device__ void Load(const T* from, long long index, long long count, bool whole,
                     Group<T, kWidth> (&to)[kVectors]) {
  if (whole) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      to[v] = *reinterpret_cast<const Group<T, kWidth>*>(from + index + v * kThreads * kWidth);
    }
    return;
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      to[v].at[e] = from[min(index + v * kThreads * kWidth + e, count - 1)];
    }
  }
}

template <class T, int kWidth, int kVectors>
__device__ void Store(T* to, long long index, long long count, bool whole,
                      const Group<T, kWidth> (&from)[kVectors]) {
  if (whole) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      *reinterpret_cast<Group<T, kWidth>*>(to + index + v * kThreads * kWidth) = from[v];
    }
    return;
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const long long i = index + v * kThreads * kWidth + e;
      if (i < count) to[i] = from[v].at[e];
    }
  }
}

// Coordinates of an element of a row, innermost first.
template <int kRank>
struct Position {
  long long at[kRank];

  __device__ Position(const long long (&sizes)[kRank], long long index, long long count) {
    index = min(index, count - 1);
    if (count <= 0x7fffffff) {
      unsigned rest = static_cast<unsigned>(index);
#pragma unroll
      for (int d = 0; d < kRank; ++d) {
        const unsigned size = static_cast<unsigned>(sizes[d]);
        at[d] = rest % size;
        rest /= size;
      }
    } else {
#pragma unroll
      for (int d = 0; d < kRank; ++d) {
        at[d] = index % sizes[d];
        index /= sizes[d];
      }
    }
  }

  // Past the last element comes the first.
  __device__ void Next(const long long (&sizes)[kRank]) {
    bool carry = true;
#pragma unroll
    for (int d = 0; d < kRank; ++d) {
      at[d] += carry;
      carry = carry && at[d] == sizes[d];
      if (carry) at[d] = 0;
    }
  }

  __device__ long long Offset(const long long (&strides)[kRank]) const {
    long long offset = 0;
#pragma unroll
    for (int d = 0; d < kRank; ++d) offset += at[d] * strides[d];
    return offset;
  }
};

}  // namespace gpucall::elementwise
