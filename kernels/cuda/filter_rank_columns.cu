// Ranks in large windows of uint8. A block goes down a strip of the image and counts, for each
// column of the strip, the values of the rows that the windows reach (Perreault and Hebert, "Median
// filtering in constant time", 2007). A thread goes on from its result in the row above: it corrects
// the number of elements below it for the row that came and the row that went, and steps to the
// rank from there, by counts of one value, or of 16, in the columns of its window.
#include "kernels/cuda/filter_rank.cuh"

namespace gpucall::cuda {
namespace {

constexpr int kMostSide = 255;      // so that counts of a column fit a byte
constexpr int kLeastColumns = 6;    // of a window: it then reaches into three words at least
constexpr int kValues = 256, kGroup = 16, kGroups = kValues / kGroup;
constexpr int kCountRows = kValues + kGroups + 2;  // then pixels: the row that comes, that goes
constexpr int kMaxColumns = 352, kColumnsOfThread = (kMaxColumns + kFilterThreads - 1) / kFilterThreads;

// Bytes from a value's counts to the next one's: 4 banks of 8 words, one after the other.
__host__ __device__ constexpr int Pitch(const FilterWindow& window) {
  return window.columns <= 33 ? 224 : kMaxColumns;
}
__host__ __device__ constexpr int TileColumns(const FilterWindow& window) {
  const int columns = (Pitch(window) - window.columns + 1) / 16 * 16;
  return columns < kFilterThreads ? columns : kFilterThreads;
}
constexpr int SharedBytes(const FilterWindow& window) { return kCountRows * Pitch(window) + 16; }

// The bytes of a thread's window in a row of counts: whole words but for the first and last two.
struct WindowBytes {
  int first;  // word
  int words;
  uint32_t first_mask, next_to_last_mask, last_mask;

  __device__ WindowBytes(int column, int columns)
      : first(column / 4), words((columns + 6) / 4), first_mask(~0u << 8 * (column % 4)) {
    const int left = column % 4 + columns - 4 * (words - 2);  // bytes in the last two words
    next_to_last_mask = left >= 4 ? ~0u : (1u << 8 * left) - 1;
    last_mask = left <= 4 ? 0 : left >= 8 ? ~0u : (1u << 8 * (left - 4)) - 1;
  }
  // use(word, mask) for all of them.
  template <class Use>
  __device__ void Visit(const uint32_t* row, Use use) const {
    use(row[first], first_mask);
#pragma unroll 1
    for (int w = 1; w < words - 2; w += 4) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (w + u < words - 2) use(row[first + w + u], ~0u);
      }
    }
    use(row[first + words - 2], next_to_last_mask);
    use(row[first + words - 1], last_mask);
  }
  __device__ int Sum(const uint32_t* row) const {
    unsigned sum = 0;
    Visit(row, [&](uint32_t word, uint32_t mask) { sum = __dp4a(word & mask, 0x01010101u, sum); });
    return static_cast<int>(sum);
  }
  // How many are less than the bytes of `limits`.
  __device__ int CountBelow(const uint32_t* row, uint32_t limits) const {
    int sum = 0;
    Visit(row, [&](uint32_t word, uint32_t mask) {
      // The highest bits of the means, rounded down, of limits and 255 - word.
      const uint32_t mean = (limits & ~word) + (((limits ^ ~word) & 0xfefefefeu) >> 1);
      sum = __dp4a(static_cast<int>(mean & mask & 0x80808080u), 0x01010101, sum);
    });
    return sum / -128;
  }
};

// The value of rank `rank`. Steps from `value`, of which `below` are less: both are changed.
__device__ void StepToRank(const uint32_t* counts, int pitch_words, const WindowBytes& bytes,
                           int rank, int& value, int& below) {
  const bool up = below <= rank;
  bool by_group = true;
  while (true) {
    const bool group = by_group && value % kGroup == 0;
    const int from = group ? kValues + value / kGroup : value;
    const int count = bytes.Sum(counts + (up ? from : from - 1) * pitch_words);
    const int step = group ? kGroup : 1;
    if (up) {
      if (below + count > rank) {
        if (!group) return;
        by_group = false;
      } else {
        below += count;
        value += step;
      }
    } else if (group && below - count <= rank) {
      by_group = false;
    } else {
      below -= count;
      value -= step;
      if (below <= rank) return;
    }
  }
}

// One column of the strip.
struct StripColumn {
  Column<uint8_t> pixels;
  uint8_t* counts;
  int came, went;

  __device__ void Count(int value, int pitch, int by) const {
    counts[value * pitch] += by;
    counts[(kValues + value / kGroup) * pitch] += by;
  }
};

template <class Out>
__device__ void RankStrip(const FilterBatch& batch, const FilterImage& image, TileOrigin origin,
                          int channel, int rank, uint32_t* counts) {
  const FilterWindow& window = batch.window;
  const int pitch = Pitch(window), columns = batch.tile.columns + window.columns - 1;
  __syncthreads();
  for (int i = threadIdx.x; i < kCountRows * pitch / 4; i += kFilterThreads) counts[i] = 0;
  __syncthreads();
  const long long top = origin.row - window.rows_before;
  auto* const bytes = reinterpret_cast<uint8_t*>(counts);
  const auto column_of = [&](int i) -> StripColumn {
    const int c = static_cast<int>(threadIdx.x) + i * kFilterThreads;
    return {{batch, image, origin.column - window.columns_before + c, channel}, bytes + c, 0, 0};
  };
  StripColumn strip[kColumnsOfThread] = {column_of(0), column_of(1)};
  static_assert(kColumnsOfThread == 2);
  const auto visit = [&](auto use) {
#pragma unroll
    for (int i = 0; i < kColumnsOfThread; ++i) {
      if (static_cast<int>(threadIdx.x) + i * kFilterThreads < columns) use(strip[i]);
    }
  };
#pragma unroll 2
  for (int r = 0; r < window.rows; ++r) {
    visit([&](StripColumn& column) { column.Count(column.pixels.At(top + r), pitch, 1); });
  }

  const int x = static_cast<int>(threadIdx.x);
  const bool works = x < batch.tile.columns && origin.column + x < image.columns;
  const WindowBytes reach(x, window.columns);
  const int rows =
      static_cast<int>(min(image.rows - origin.row, static_cast<long long>(batch.tile.rows)));
  const long long stride = image.columns * batch.channels;
  Out* output = static_cast<Out*>(image.output) + origin.row * stride +
                (origin.column + x) * batch.channels + channel;
  const int came = (kValues + kGroups) * pitch, went = came + pitch;
  int value = 0, below = 0;
  for (int y = 0; y < rows; ++y) {
    __syncthreads();
    visit([&](StripColumn& column) {
      if (y + 1 == rows) return;
      column.came = column.pixels.At(top + y + window.rows);
      column.went = column.pixels.At(top + y);
    });
    if (works) {
      if (y > 0) {
        const uint32_t limits = value * 0x01010101u;
        below += reach.CountBelow(counts + came / 4, limits);
        below -= reach.CountBelow(counts + went / 4, limits);
      }
      StepToRank(counts, pitch / 4, reach, rank, value, below);
      *output = static_cast<Out>(value);
      output += stride;
    }
    __syncthreads();
    if (y + 1 == rows) break;
    visit([&](StripColumn& column) {
      column.counts[came] = column.came;
      column.counts[went] = column.went;
      if (column.came == column.went) return;
      column.Count(column.came, pitch, 1);
      column.Count(column.went, pitch, -1);
    });
  }
}

template <class Out>
__global__ void __launch_bounds__(kFilterThreads, 3)
    RankColumns(const __grid_constant__ FilterBatch batch, int rank) {
  extern __shared__ uint32_t counts[];
  const FilterImage& image = FindImage(batch);
  const TileOrigin origin = FindTile(image, batch.tile.rows, batch.tile.columns);
  for (int channel = 0; channel < batch.channels; ++channel) {
    RankStrip<Out>(batch, image, origin, channel, rank, counts);
  }
}

}  // namespace

bool RankCountsColumns(const FilterShape& shape) {
  const FilterWindow& window = shape.window;
  return shape.input == PixelType::kUint8 && window.rows <= kMostSide &&
         window.columns >= kLeastColumns && window.columns <= kMostSide;
}

FilterTile RankColumnsTile(const FilterShape& shape) {
  const int columns = TileColumns(shape.window);
  return StripTile(shape, columns, Pitch(shape.window) < kMaxColumns ? 3 : 2);
}

cudaError_t LaunchRankColumns(const FilterBatch& batch, int rank, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(batch.block_count));
  const auto kernel =
      batch.output == PixelType::kUint8 ? RankColumns<uint8_t> : RankColumns<float>;
  return LaunchBlocks(kernel, blocks, SharedBytes(batch.window), stream, batch, rank);
}

}  // namespace gpucall::cuda
