// Ranks in large windows of uint8. A block goes down a strip of the image and counts, for each
// column of the strip, the values of the rows that the windows reach (Perreault and Hebert, "Median
// filtering in constant time", 2007). A thread goes on from its result in the row above: it
// corrects the number of elements below it for the row that came and the row that went, and steps
// to the rank from there, by counts of one value, or of 16, in the columns of its window.
#include "kernels/cuda/filter_rank.cuh"

namespace gpucall::cuda {
namespace {

constexpr int kMostSide = 255;    // so that counts of a column fit a byte
constexpr int kLeastColumns = 6;  // of a window: it then reaches into three words at least
constexpr int kValues = 256, kGroup = 16, kGroups = kValues / kGroup;
constexpr int kCountRows = kValues + kGroups + 2;  // then pixels: the row that comes, that goes
constexpr int kMaxColumns = 352;                   // of a strip, with what windows reach beside it
constexpr int kColumnsOfThread = (kMaxColumns + kFilterThreads - 1) / kFilterThreads;

// Bytes from a value's counts to the next one's: 4 banks of 8 words, one after the other.
__host__ __device__ constexpr int Pitch(const FilterWindow& window) {
  return window.columns <= 33 ? 224 : kMaxColumns;
}
__host__ __device__ constexpr int TileColumns(const FilterWindow& window) {
  const int columns = (Pitch(window) - window.columns + 1) / 16 * 16;
  return columns < kFilterThreads ? columns : kFilterThreads;
}
constexpr int SharedBytes(const FilterWindow& window) { return kCountRows * Pitch(window) + 16; }

// The bytes of a thread's window in a row of counts: words, of which the first and the last two may
// count in part.
struct WindowBytes {
  static constexpr int kBunch = 4;  // words between these that are read at once
  int first;                        // word
  int between;                      // words
  uint32_t first_mask, next_to_last_mask, last_mask;

  __device__ WindowBytes(int column, int columns)
      : first(column / 4), between((columns + 6) / 4 - 3), first_mask(~0u << 8 * (column % 4)) {
    const int left = column % 4 + columns - 4 * (between + 1);  // bytes in the last two words
    next_to_last_mask = left >= 4 ? ~0u : (1u << 8 * left) - 1;
    last_mask = left <= 4 ? 0 : left >= 8 ? ~0u : (1u << 8 * (left - 4)) - 1;
  }
  // use(word, mask) for all of them. Words after those of the window may be read too.
  template <class Use>
  __device__ void Visit(const uint32_t* row, Use use) const {
    const uint32_t* words = row + first;
    use(words[0], first_mask);
    use(words[between + 1], next_to_last_mask);
    use(words[between + 2], last_mask);
    ++words;
    int left = between;
#pragma unroll 1
    for (; left >= kBunch; left -= kBunch, words += kBunch) {
#pragma unroll
      for (int u = 0; u < kBunch; ++u) use(words[u], ~0u);
    }
#pragma unroll
    for (int u = 0; u < kBunch - 1; ++u) use(words[u], u < left ? ~0u : 0u);
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
    return -(sum >> 7);
  }
};

// The value of rank `rank`. Steps from `value`, of which `below` are less: both are changed.
__device__ void StepToRank(const uint32_t* counts, int pitch_words, const WindowBytes& bytes,
                           int rank, int& value, int& below) {
  const bool up = below <= rank;
  const int back = up ? 0 : 1;
  bool by_group = true;
  while (true) {
    const bool group = by_group && value % kGroup == 0;
    const int from = (group ? kValues + value / kGroup : value) - back;
    const int count = bytes.Sum(counts + from * pitch_words);
    const int next = up ? below + count : below - count;
    const bool reached = up == (next > rank);  // within the step: up to its value, down to it or on
    if (!reached || (!group && !up)) {
      below = next;
      const int step = group ? kGroup : 1;
      value += up ? step : -step;
    }
    if (reached && !group) return;
    by_group = by_group && !reached;
  }
}

// One column of the strip: where its pixels are, and its counts.
struct StripColumn {
  const uint8_t* pixels;  // of row 0; null for the constant
  uint8_t* counts;
  int came = 0, went = 0;

  __device__ void Count(int value, int pitch) const {
    ++counts[value * pitch];
    ++counts[(kValues + value / kGroup) * pitch];
  }
  // Counts `came` and no longer `went`.
  __device__ void Move(int pitch) const {
    if (came == went) return;
    uint8_t* const in = counts + came * pitch;
    uint8_t* const out = counts + went * pitch;
    uint8_t* const group_in = counts + (kValues + came / kGroup) * pitch;
    uint8_t* const group_out = counts + (kValues + went / kGroup) * pitch;
    // All read before any is written, which would wait for the reads one by one.
    const int count_in = *in, count_out = *out, groups_in = *group_in, groups_out = *group_out;
    *in = static_cast<uint8_t>(count_in + 1);
    *out = static_cast<uint8_t>(count_out - 1);
    if (group_in == group_out) return;
    *group_in = static_cast<uint8_t>(groups_in + 1);
    *group_out = static_cast<uint8_t>(groups_out - 1);
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
  const long long stride = image.columns * batch.channels;
  const int x = static_cast<int>(threadIdx.x);
  StripColumn strip[kColumnsOfThread];
#pragma unroll
  for (int i = 0; i < kColumnsOfThread; ++i) {
    const int c = x + i * kFilterThreads;
    const Column<uint8_t> column(batch, image, origin.column - window.columns_before + c, channel);
    strip[i] = {column.data, reinterpret_cast<uint8_t*>(counts) + c};
  }
  const auto visit = [&](auto use) {
#pragma unroll
    for (int i = 0; i < kColumnsOfThread; ++i) {
      if (x + i * kFilterThreads < columns) use(strip[i]);
    }
  };
  const auto cval = static_cast<uint8_t>(window.cval);
  // Where a row of the strip starts; negative for the constant.
  const auto offset_of = [&](long long row) {
    return BorderIndex(row, image.rows, window.border) * stride;
  };
  const auto pixel_at = [&](const StripColumn& column, long long offset) -> int {
    return column.pixels == nullptr || offset < 0 ? cval : column.pixels[offset];
  };
#pragma unroll 4
  for (int r = 0; r < window.rows; ++r) {
    const long long offset = offset_of(top + r);
    visit([&](StripColumn& column) { column.Count(pixel_at(column, offset), pitch); });
  }

  const bool works = x < batch.tile.columns && origin.column + x < image.columns;
  const WindowBytes reach(x, window.columns);
  const int rows =
      static_cast<int>(min(image.rows - origin.row, static_cast<long long>(batch.tile.rows)));
  Out* output = static_cast<Out*>(image.output) + origin.row * stride +
                (origin.column + x) * batch.channels + channel;
  const int came = (kValues + kGroups) * pitch, went = came + pitch;
  int value = 0, below = 0;
  for (int y = 0; y < rows; ++y) {
    const long long next = offset_of(top + y + window.rows), last = offset_of(top + y);
    visit([&](StripColumn& column) {
      column.came = pixel_at(column, next);
      column.went = pixel_at(column, last);
    });
    __syncthreads();
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
    visit([&](StripColumn& column) {
      column.counts[came] = static_cast<uint8_t>(column.came);
      column.counts[went] = static_cast<uint8_t>(column.went);
      column.Move(pitch);
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
  const auto kernel = batch.output == PixelType::kUint8 ? RankColumns<uint8_t> : RankColumns<float>;
  return LaunchBlocks(kernel, blocks, SharedBytes(batch.window), stream, batch, rank);
}

}  // namespace gpucall::cuda
