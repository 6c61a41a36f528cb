// Ranks in windows of any size: the key's bits from the highest on, each by counting the window's
// keys below, until one key is left.
#include "kernels/cuda/filter_rank.cuh"

namespace gpucall::cuda {
namespace {

constexpr int kTileRows = 16;
constexpr int kTileElements = 64;

__host__ __device__ constexpr int TileColumns(int channels) {
  return channels < kTileElements ? kTileElements / channels : 1;
}
__host__ __device__ constexpr long long TileElements(const FilterWindow& window, int channels) {
  return (TileColumns(channels) + window.columns - 1LL) * channels;
}

// Of the tile's keys; more than kMaxSharedBytes where they have to be read from the image each
// time.
template <class In>
long long SharedBytes(const FilterWindow& window, int channels) {
  constexpr long long kKeyBytes = sizeof(In);  // keys are as large as elements
  return (kTileRows + window.rows - 1LL) * TileElements(window, channels) * kKeyBytes;
}

enum class KeysIn { kShared, kImage };

// One below the other, found by one thread: they share most keys that it reads.
template <KeysIn kKeysIn>
inline constexpr int kOutputs = kKeysIn == KeysIn::kShared ? 4 : 1;

// The keys of rank `rank` of kCount windows. visit(use) calls use(w, key) for every key of every
// window w. Keys differ in the bits of `differ` alone, and the others are those of found[w].
template <class Key, int kCount, class Visit>
__device__ void Select(int rank, int window_keys, uint32_t differ, Visit visit,
                       Key (&found)[kCount]) {
  // Keys less than found[w], and at most found[w] with all lower bits.
  int below[kCount] = {}, within[kCount];
#pragma unroll
  for (int w = 0; w < kCount; ++w) within[w] = window_keys;
#pragma unroll 1
  for (int bit = 31 - __clz(differ); bit >= 0; --bit) {
    Key middle[kCount];
    int less[kCount] = {};
#pragma unroll
    for (int w = 0; w < kCount; ++w) middle[w] = found[w] | Key{1} << bit;
    visit([&](int w, Key key) { less[w] += key < middle[w]; });
    bool alone = true;
#pragma unroll
    for (int w = 0; w < kCount; ++w) {
      const bool upper = rank >= less[w];
      if (upper) found[w] = middle[w];
      (upper ? below[w] : within[w]) = less[w];
      alone &= within[w] - below[w] == 1;
    }
    if (!alone) continue;
    Key most[kCount], largest[kCount] = {};
#pragma unroll
    for (int w = 0; w < kCount; ++w) most[w] = found[w] | ((Key{1} << bit) - 1);
    visit([&](int w, Key key) {
      if (key <= most[w]) largest[w] = max(largest[w], key);
    });
#pragma unroll
    for (int w = 0; w < kCount; ++w) found[w] = largest[w];
    return;
  }
}

// Calls use(w, read(i)) for the window.rows keys from row w on of one column, for all w < kCount.
template <int kCount, class Read, class Use>
__device__ void VisitColumn(int rows, Read read, Use use) {
  const auto some = [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      const auto key = read(i);
#pragma unroll
      for (int w = 0; w < kCount; ++w) {
        if (i >= w && i - w < rows) use(w, key);
      }
    }
  };
  some(0, kCount - 1);
#pragma unroll 4
  for (int i = kCount - 1; i < rows; ++i) {
    const auto key = read(i);
#pragma unroll
    for (int w = 0; w < kCount; ++w) use(w, key);
  }
  some(max(rows, kCount - 1), rows + kCount - 1);
}

// The bits in which keys differ. All threads of the block take part.
template <class Key>
__device__ uint32_t DifferingBits(const Key* keys, int count) {
  __shared__ uint32_t bits;
  if (threadIdx.x == 0) bits = 0;
  __syncthreads();
  uint32_t differ = 0;
  for (int i = threadIdx.x; i < count; i += kFilterThreads) differ |= keys[i] ^ keys[0];
  differ = __reduce_or_sync(0xffffffffu, differ);
  if (threadIdx.x % 32 == 0) atomicOr(&bits, differ);
  __syncthreads();
  return bits;
}

template <class In, class Out, KeysIn kKeysIn>
__global__ void __launch_bounds__(kFilterThreads)
    RankSelect(const __grid_constant__ FilterBatch batch, int rank) {
  using Key = decltype(KeyOf(In{}));
  constexpr int kCount = kOutputs<kKeysIn>;
  constexpr bool kShared = kKeysIn == KeysIn::kShared;
  extern __shared__ uint32_t shared[];
  auto* const tile = reinterpret_cast<Key*>(shared);
  const FilterImage& image = FindImage(batch);
  const FilterWindow& window = batch.window;
  const int channels = batch.channels;
  const TileOrigin origin = FindTile(image, kTileRows, TileColumns(channels));
  const long long top = origin.row - window.rows_before;
  const long long left = origin.column - window.columns_before;
  // Of a row of the tile; used where they fit shared memory.
  const int elements = static_cast<int>(TileElements(window, channels));
  uint32_t differ = static_cast<Key>(~Key{0});
  if constexpr (kShared) {
    const int rows = kTileRows + window.rows - 1;
    ReadTile<In>(batch, image, top, left, rows, elements,
                 [&](int row, int e, In value) { tile[row * elements + e] = KeyOf(value); });
    __syncthreads();
    differ = DifferingBits(tile, rows * elements);
  }
  Key alike = 0;
  if constexpr (kShared) alike = differ == 0 ? tile[0] : tile[0] & ~(0xffffffffu >> __clz(differ));
  const long long across = static_cast<long long>(TileColumns(channels)) * channels;
  const long long stride = image.columns * channels;
  for (long long at = threadIdx.x; at < kTileRows / kCount * across; at += kFilterThreads) {
    const int row = static_cast<int>(at / across) * kCount, element = static_cast<int>(at % across);
    const long long first = origin.column * channels + element;
    if (origin.row + row >= image.rows || first >= stride) continue;
    Key found[kCount];
#pragma unroll
    for (int w = 0; w < kCount; ++w) found[w] = alike;
    const auto visit = [&](auto use) {
      for (int j = 0; j < window.columns; ++j) {
        if constexpr (kShared) {
          const Key* const column = tile + row * elements + element + j * channels;
          VisitColumn<kCount>(
              window.rows, [&](int i) { return column[i * elements]; }, use);
        } else {
          const Column<In> column(batch, image, left + element / channels + j, element % channels);
          for (int i = 0; i < window.rows; ++i) use(0, KeyOf(column.At(top + row + i)));
        }
      }
    };
    Select(rank, window.rows * window.columns, differ, visit, found);
#pragma unroll
    for (int w = 0; w < kCount; ++w) {
      if (origin.row + row + w >= image.rows) break;
      static_cast<Out*>(image.output)[(origin.row + row + w) * stride + first] =
          ResultOf<Out>(found[w]);
    }
  }
}

}  // namespace

FilterTile RankSelectTile(int channels) { return {kTileRows, TileColumns(channels)}; }

cudaError_t LaunchRankSelect(const FilterBatch& batch, int rank, cudaStream_t stream) {
  return WithPixelTypes(batch, [&]<class In, class Out>(In, Out) {
    const dim3 blocks(static_cast<unsigned>(batch.block_count));
    const long long bytes = SharedBytes<In>(batch.window, batch.channels);
    if (bytes > kMaxSharedBytes) {
      return LaunchBlocks(RankSelect<In, Out, KeysIn::kImage>, blocks, 0, stream, batch, rank);
    }
    return LaunchBlocks(RankSelect<In, Out, KeysIn::kShared>, blocks, static_cast<size_t>(bytes),
                        stream, batch, rank);
  });
}

}  // namespace gpucall::cuda
