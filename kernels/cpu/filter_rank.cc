#include <cstring>
#include <vector>

#include "kernels/cpu/filter.h"
#include "kernels/cpu/key_codec.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/padded_rows.h"
#include "kernels/cpu/rank_window.h"
#include "kernels/cpu/row_ring.h"

namespace gpucall::cpu {
namespace {

template <class Key>
void RunSelect(const Image& image, const Window& window, const Output& output,
               const KeyCodec<Key>& codec, Select<Key> select) {
  PaddedRows padded(image, window, codec.load, sizeof(Key));
  const KeyWriter<Key> writer(image, output, codec);
  const int64_t width = StripColumns<Key>(window.rows, window.columns - 1, image.channels);
  for (const Strip& strip : MakeStrips(image, width)) {
    padded.Select(strip);
    const RowRing<Key> ring(window.rows, padded.element_count());
    const RowRing<Key> result(1, strip.count());
    const AlignedArray<std::byte> elements(static_cast<size_t>(strip.count()) * SizeOf(image.type));
    for (int64_t row = 0; row < padded.row_count(); ++row) {
      padded.Read(row, ring.row(row));
      const int64_t y = row - (window.rows - 1);
      if (y < 0) continue;
      const KeyWindow<Key> view = {ring.RowsFrom(y), static_cast<size_t>(window.rows),
                                   static_cast<size_t>(window.columns),
                                   static_cast<size_t>(strip.channels)};
      select(view, result.row(0), static_cast<size_t>(strip.count()));
      writer.Write(strip, y, result.row(0), elements.data());
    }
  }
}

// Strips of one channel: large windows hold a histogram, or ranks, of one.
std::vector<Strip> SplitChannels(const std::vector<Strip>& strips) {
  std::vector<Strip> split;
  for (const Strip& strip : strips) {
    for (int64_t c = 0; c < strip.channels; ++c) {
      split.push_back({strip.column, strip.columns, strip.channel + c, 1});
    }
  }
  return split;
}

void Count(const Key8* keys, int64_t columns, uint16_t change, uint16_t* histograms) {
  for (int64_t c = 0; c < columns; ++c) {
    uint16_t* histogram = histograms + c * static_cast<int64_t>(kHistogramSize);
    histogram[keys[c]] += change;
    histogram[256 + keys[c] / 16] += change;
  }
}

void RunHistogram(const Image& image, const Window& window, const Output& output,
                  const KeyCodec<Key8>& codec, size_t rank) {
  constexpr int64_t kColumns = 512;  // with their histograms they fit the second-level cache
  PaddedRows padded(image, window, codec.load, sizeof(Key8));
  const KeyWriter<Key8> writer(image, output, codec);
  for (const Strip& strip : SplitChannels(MakeStrips(image, kColumns))) {
    padded.Select(strip);
    const int64_t columns = padded.element_count();
    const RowRing<Key8> ring(window.rows, columns);
    const RowRing<Key8> result(1, strip.count());
    const AlignedArray<std::byte> elements(static_cast<size_t>(strip.count()));
    std::vector<uint16_t> histograms(static_cast<size_t>(columns) * kHistogramSize);
    for (int64_t row = 0; row < padded.row_count(); ++row) {
      if (row >= window.rows) Count(ring.row(row), columns, uint16_t(-1), histograms.data());
      padded.Read(row, ring.row(row));
      Count(ring.row(row), columns, 1, histograms.data());
      const int64_t y = row - (window.rows - 1);
      if (y < 0) continue;
      BestLevel().medians.histogram8(histograms.data(), static_cast<size_t>(window.columns), rank,
                                     result.row(0), static_cast<size_t>(strip.count()));
      writer.Write(strip, y, result.row(0), elements.data());
    }
  }
}

template <class Key>
void RunRanks(const Image& image, const Window& window, const Output& output,
              const KeyCodec<Key>& codec, int64_t rank) {
  // Blocks twice the window's size: sorted once, they hold few enough keys between two of a window.
  const int64_t height = 2 * window.rows;
  PaddedRows padded(image, window, codec.load, sizeof(Key));
  const KeyWriter<Key> writer(image, output, codec);
  for (const Strip& strip : SplitChannels(MakeStrips(image, 2 * window.columns))) {
    padded.Select(strip);
    const int64_t columns = padded.element_count();
    std::vector<Key> result(static_cast<size_t>(strip.count()));
    const AlignedArray<std::byte> elements(result.size() * SizeOf(image.type));
    for (int64_t top = 0; top < image.rows; top += height) {
      const int64_t rows = std::min(height, image.rows - top);
      std::vector<Key> keys(static_cast<size_t>((rows + window.rows - 1) * columns));
      for (int64_t r = 0; r < rows + window.rows - 1; ++r) {
        padded.Read(top + r, keys.data() + r * columns);
      }
      RankWindow<Key> ranks(std::move(keys), columns, window.rows, window.columns, rank);
      for (int64_t r = 0; r < rows; ++r) {
        ranks.FindRow(r, result);
        writer.Write(strip, top + r, result.data(), elements.data());
      }
    }
  }
}

template <class Key>
void RunReal(const Image& image, const Window& window, const Output& output,
             const KeyCodec<Key>& codec, Select<Key> exchange, int64_t rank) {
  const int64_t n = window.rows * window.columns;
  if (n <= static_cast<int64_t>(kMaxExchangeCount) && rank == n / 2) {
    RunSelect(image, window, output, codec, exchange);
  } else {
    RunRanks(image, window, output, codec, rank);
  }
}

void RunUint8(const Image& image, const Window& window, const Output& output, int64_t rank) {
  constexpr int64_t kFewer = 49;  // up to here exchanges are the faster
  const ConvertLoop copy = FindConvertLoop(ElementType::kUint8, ElementType::kUint8);
  const KeyCodec<Key8> codec = {copy, copy};
  const int64_t n = window.rows * window.columns;
  if (n > static_cast<int64_t>(kMaxBitwiseCount) || rank != n / 2) {
    RunHistogram(image, window, output, codec, static_cast<size_t>(rank));
  } else {
    const MedianTable& medians = BestLevel().medians;
    RunSelect(image, window, output, codec, n <= kFewer ? medians.exchange8 : medians.bitwise8);
  }
}

}  // namespace

void RankFilter(const Image& image, const Window& window, int64_t rank, const Output& output) {
  if (image.empty()) return;
  const MedianTable& medians = BestLevel().medians;
  if (image.type == ElementType::kUint8) {
    RunUint8(image, window, output, rank);
  } else if (image.type == ElementType::kFloat32) {
    RunReal<Key32>(image, window, output, {medians.keys_of_float32, medians.float32_of_keys},
                   medians.exchange32, rank);
  } else {
    RunReal<Key64>(image, window, output, {medians.keys_of_float64, medians.float64_of_keys},
                   medians.exchange64, rank);
  }
}

}  // namespace gpucall::cpu
