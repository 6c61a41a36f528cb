#include <bit>
#include <utility>
#include <vector>

#include "kernels/cpu/filter.h"
#include "kernels/cpu/key_codec.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/padded_rows.h"
#include "kernels/cpu/row_ring.h"

namespace gpucall::cpu {
namespace {

// Replaces each of `count` keys by the extreme of the `columns` from it on, `step` apart: of 2, 4,
// 8... of them, then of two such runs that overlap. `keys` has count + (columns - 1) * step.
template <class Key>
void ChooseAlong(Choose<Key> choose, size_t columns, size_t step, Key* keys, size_t count) {
  const size_t run = std::bit_floor(columns);
  size_t length = count + (columns - 1) * step;
  for (size_t size = 1; size < run; size *= 2) {
    length -= size * step;
    choose(keys, keys + size * step, keys, length);
  }
  if (run < columns) choose(keys, keys + (columns - run) * step, keys, count);
}

// M. van Herk, "A fast algorithm for local minimum and maximum filters on rectangular and octagonal
// kernels", Pattern Recognition Letters 13, 1992: rows in blocks of the window's height. A window
// is the end of one block, whose extremes are found from its last row up, and the start of the
// next, found from its first row down.
template <class Key>
void Run(const Image& image, const Window& window, const Output& output, const KeyCodec<Key>& codec,
         Choose<Key> choose) {
  PaddedRows padded(image, window, codec.load, sizeof(Key));
  const KeyWriter<Key> writer(image, output, codec);
  const int64_t width = StripColumns<Key>(window.rows, window.columns - 1, image.channels);
  for (const Strip& strip : MakeStrips(image, width)) {
    padded.Select(strip);
    const auto count = static_cast<size_t>(strip.count());
    const RowRing<Key> source(1, padded.element_count());
    // Row r of a block lies at r. Once its block is complete it holds the extreme from there down.
    const RowRing<Key> block(window.rows, strip.count());
    const RowRing<Key> start(1, strip.count()), result(1, strip.count());
    const AlignedArray<std::byte> elements(count * SizeOf(image.type));
    for (int64_t row = 0; row < padded.row_count(); ++row) {
      padded.Read(row, source.row(0));
      ChooseAlong(choose, static_cast<size_t>(window.columns), static_cast<size_t>(strip.channels),
                  source.row(0), count);
      const int64_t place = row % window.rows;
      if (place == 0) {
        std::copy_n(source.row(0), count, start.row(0));
      } else {
        choose(start.row(0), source.row(0), start.row(0), count);
      }
      const int64_t y = row - (window.rows - 1);
      const Key* extremes = start.row(0);
      if (y >= 0 && place + 1 < window.rows) {
        choose(block.row(place + 1), start.row(0), result.row(0), count);
        extremes = result.row(0);
      }
      if (y >= 0) writer.Write(strip, y, extremes, elements.data());
      std::copy_n(source.row(0), count, block.row(place));
      if (place + 1 < window.rows) continue;
      for (int64_t r = window.rows - 1; r-- > 0;) {
        choose(block.row(r), block.row(r + 1), block.row(r), count);
      }
    }
  }
}

template <class Key>
Choose<Key> Of(const ChooseTable<Key>& table, Extreme extreme) {
  return extreme == Extreme::kMinimum ? table.smaller : table.larger;
}

}  // namespace

void ExtremeFilter(const Image& image, const Window& window, Extreme extreme,
                   const Output& output) {
  if (image.empty()) return;
  const MedianTable& loops = BestLevel().medians;
  if (image.type == ElementType::kUint8) {
    const ConvertLoop copy = FindConvertLoop(ElementType::kUint8, ElementType::kUint8);
    Run<Key8>(image, window, output, {copy, copy}, Of(loops.choose8, extreme));
  } else if (image.type == ElementType::kFloat32) {
    Run<Key32>(image, window, output, {loops.keys_of_float32, loops.float32_of_keys},
               Of(loops.choose32, extreme));
  } else {
    Run<Key64>(image, window, output, {loops.keys_of_float64, loops.float64_of_keys},
               Of(loops.choose64, extreme));
  }
}

}  // namespace gpucall::cpu
