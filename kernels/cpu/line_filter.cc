#include "kernels/cpu/line_filter.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "kernels/line_symmetry.h"
#include "kernels/rank_keys.h"

namespace gpucall::cpu {
namespace {

constexpr int64_t kBlock = 1 << 15;  // elements that are worked on at a time, but for windows
constexpr int64_t kMaxLanes = 256;

// Walks an array in blocks: `lanes` neighbouring lines, some of their elements.
struct Block {
  int64_t outer, lane, lanes;  // lines (outer, lane) to (outer, lane + lanes - 1)
  int64_t first, count;        // elements
};

int64_t MostLanes(const LineFilterShape& shape) {
  return std::min({shape.inner, kMaxLanes, std::max<int64_t>(1, kBlock / (shape.size + 16))});
}

template <class Visit>
void ForEachBlock(const LineFilterShape& shape, Visit visit) {
  const int64_t most_lanes = MostLanes(shape);
  for (int64_t o = 0; o < shape.outer; ++o) {
    for (int64_t lane = 0; lane < shape.inner; lane += most_lanes) {
      const int64_t lanes = std::min(most_lanes, shape.inner - lane);
      const int64_t most = std::max<int64_t>(1, kBlock / lanes);
      for (int64_t first = 0; first < shape.count; first += most) {
        visit(Block{o, lane, lanes, first, std::min(most, shape.count - first)});
      }
    }
  }
}

// Calls load(row, index, rows) for the block's elements and those of their windows, in order:
// `rows` rows of lanes from number `row` on are the array's from element `index` of the lines on;
// fill(row) where a row is the constant.
template <class Load, class Fill>
void GatherRows(const LineFilterShape& shape, const Block& block, Load load, Fill fill) {
  const int64_t rows = block.count + shape.size - 1;
  const int64_t start = block.first - shape.before;
  for (int64_t row = 0; row < rows;) {
    const int64_t index = InsideIndex(start + row, shape.count, shape.border);
    if (index < 0) {
      fill(row++);
    } else if (index == start + row && block.lanes == shape.inner) {
      const int64_t run = std::min(rows - row, shape.count - index);
      load(row, index, run);
      row += run;
    } else {
      load(row++, index, 1);
    }
  }
}

int64_t PlaceOf(const LineFilterShape& shape, const Block& block, int64_t element) {
  return (block.outer * shape.count + element) * shape.inner + block.lane;
}

// The elements of the largest block, and those with their windows'.
int64_t BlockSize(const LineFilterShape& shape) {
  return std::min(kBlock, shape.count * MostLanes(shape));
}
int64_t BufferSize(const LineFilterShape& shape) {
  return BlockSize(shape) + (shape.size - 1) * MostLanes(shape);
}

// sums[i] = the sum over k of elements[i + k * lanes] * weights[k].
void Sum(const double* elements, int64_t count, int64_t lanes, const std::vector<double>& weights,
         int symmetry, double* sums) {
  const auto size = static_cast<int64_t>(weights.size());
  const double* w = weights.data();
  const int64_t middle = symmetry != 0 ? size / 2 : size - 1;
  const double* centre = elements + middle * lanes;
  for (int64_t i = 0; i < count; ++i) sums[i] = centre[i] * w[middle];
  for (int64_t k = 0; k < middle; ++k) {
    const double* left = elements + k * lanes;
    const double* right = elements + (size - 1 - k) * lanes;
    const double weight = w[k];
    if (symmetry > 0) {
      for (int64_t i = 0; i < count; ++i) sums[i] += (left[i] + right[i]) * weight;
    } else if (symmetry < 0) {
      for (int64_t i = 0; i < count; ++i) sums[i] += (left[i] - right[i]) * weight;
    } else {
      for (int64_t i = 0; i < count; ++i) sums[i] += left[i] * weight;
    }
  }
}

template <class Bits>
void Extreme(const std::byte* x, Numbers numbers, const LineFilterShape& shape,
             const std::byte* cval, bool largest, std::byte* out) {
  Bits fill;
  std::memcpy(&fill, cval, sizeof(Bits));
  std::vector<Bits> keys(static_cast<size_t>(BufferSize(shape)));
  std::vector<Bits> results(static_cast<size_t>(BlockSize(shape)));
  ForEachBlock(shape, [&](const Block& block) {
    const int64_t lanes = block.lanes, count = block.count * lanes;
    GatherRows(
        shape, block,
        [&](int64_t row, int64_t index, int64_t rows) {
          Bits* const target = keys.data() + row * lanes;
          std::memcpy(target, x + PlaceOf(shape, block, index) * int64_t{sizeof(Bits)},
                      static_cast<size_t>(rows * lanes) * sizeof(Bits));
          for (int64_t i = 0; i < rows * lanes; ++i) target[i] = RankKey(target[i], numbers);
        },
        [&](int64_t row) {
          std::fill_n(keys.begin() + row * lanes, lanes, RankKey(fill, numbers));
        });
    std::copy_n(keys.begin(), count, results.begin());
    for (int64_t k = 1; k < shape.size; ++k) {
      const Bits* others = keys.data() + k * lanes;
      for (int64_t i = 0; i < count; ++i) {
        results[i] = largest ? std::max(results[i], others[i]) : std::min(results[i], others[i]);
      }
    }
    for (int64_t e = 0; e < block.count; ++e) {
      std::byte* to = out + PlaceOf(shape, block, block.first + e) * int64_t{sizeof(Bits)};
      Bits* row = results.data() + e * lanes;
      for (int64_t i = 0; i < lanes; ++i) row[i] = BitsOfRankKey(row[i], numbers);
      std::memcpy(to, row, static_cast<size_t>(lanes) * sizeof(Bits));
    }
  });
}

}  // namespace

void LineSum(const std::byte* x, ElementType from, const LineFilterShape& shape,
             const std::vector<double>& weights, double divisor, std::byte* out, ElementType to) {
  const CastLoop load = FindCastLoop(from, ElementType::kFloat64);
  const CastLoop store = FindCastLoop(ElementType::kFloat64, to);
  const auto from_bytes = static_cast<int64_t>(SizeOf(from));
  const auto to_bytes = static_cast<int64_t>(SizeOf(to));
  const int symmetry = SymmetryOf(weights);
  std::vector<double> elements(static_cast<size_t>(BufferSize(shape)));
  std::vector<double> sums(static_cast<size_t>(BlockSize(shape)));
  ForEachBlock(shape, [&](const Block& block) {
    const int64_t lanes = block.lanes, count = block.count * lanes;
    GatherRows(
        shape, block,
        [&](int64_t row, int64_t index, int64_t rows) {
          load(x + PlaceOf(shape, block, index) * from_bytes, elements.data() + row * lanes,
               static_cast<size_t>(rows * lanes));
        },
        [&](int64_t row) { std::fill_n(elements.begin() + row * lanes, lanes, shape.cval); });
    Sum(elements.data(), count, lanes, weights, symmetry, sums.data());
    if (divisor != 1) {
      for (int64_t i = 0; i < count; ++i) sums[i] /= divisor;
    }
    const bool whole = lanes == shape.inner;  // then rows lie together
    for (int64_t e = 0; e < block.count; e += whole ? block.count : 1) {
      store(sums.data() + e * lanes, out + PlaceOf(shape, block, block.first + e) * to_bytes,
            static_cast<size_t>(whole ? count : lanes));
    }
  });
}

void LineExtreme(const std::byte* x, Numbers numbers, size_t element_bytes,
                 const LineFilterShape& shape, const std::byte* cval, bool largest,
                 std::byte* out) {
  switch (element_bytes) {
    case 1:
      return Extreme<uint8_t>(x, numbers, shape, cval, largest, out);
    case 2:
      return Extreme<uint16_t>(x, numbers, shape, cval, largest, out);
    case 4:
      return Extreme<uint32_t>(x, numbers, shape, cval, largest, out);
    default:
      return Extreme<uint64_t>(x, numbers, shape, cval, largest, out);
  }
}

}  // namespace gpucall::cpu
