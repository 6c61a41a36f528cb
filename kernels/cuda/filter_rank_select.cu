// Ranks in windows of any size: the key's bits from the highest on, each by counting the window's
// keys below.
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

// The key of rank `rank`. visit(use) calls use(key) for every key of the window.
template <class Key, class Visit>
__device__ Key Select(int rank, Visit visit) {
  Key found = 0;
#pragma unroll 1
  for (int bit = 8 * sizeof(Key) - 1; bit >= 0; --bit) {
    int zeros = 0;
    visit([&](Key key) { zeros += (key ^ found) >> bit == 0; });
    if (rank >= zeros) {
      rank -= zeros;
      found |= Key{1} << bit;
    }
  }
  return found;
}

enum class KeysIn { kShared, kImage };

template <class In, class Out, KeysIn kKeysIn>
__global__ void __launch_bounds__(kFilterThreads)
    RankSelect(const __grid_constant__ FilterBatch batch, int rank) {
  using Key = decltype(KeyOf(In{}));
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
  if constexpr (kKeysIn == KeysIn::kShared) {
    ReadTile<In>(batch, image, top, left, kTileRows + window.rows - 1, elements,
                 [&](int row, int e, In value) { tile[row * elements + e] = KeyOf(value); });
    __syncthreads();
  }
  const long long across = static_cast<long long>(TileColumns(channels)) * channels;
  const long long stride = image.columns * channels;
  for (long long at = threadIdx.x; at < kTileRows * across; at += kFilterThreads) {
    const int row = static_cast<int>(at / across), element = static_cast<int>(at % across);
    const long long out = (origin.row + row) * stride + origin.column * channels + element;
    if (origin.row + row >= image.rows || origin.column * channels + element >= stride) continue;
    const Key found = Select<Key>(rank, [&](auto use) {
      for (int j = 0; j < window.columns; ++j) {
        if constexpr (kKeysIn == KeysIn::kShared) {
          const Key* const column = tile + row * elements + element + j * channels;
          for (int i = 0; i < window.rows; ++i) use(column[i * elements]);
        } else {
          const Column<In> column(batch, image, left + element / channels + j, element % channels);
          for (int i = 0; i < window.rows; ++i) use(KeyOf(column.At(top + row + i)));
        }
      }
    });
    static_cast<Out*>(image.output)[out] = ResultOf<Out>(found);
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
