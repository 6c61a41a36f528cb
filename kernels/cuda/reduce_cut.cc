#include "kernels/cuda/reduce_cut.h"

#include <algorithm>
#include <bit>

namespace gpucall::cuda {
namespace {

constexpr int kGroupBytes = 16;
constexpr int kBlockBits = std::countr_zero(static_cast<unsigned>(kReduceThreads));
constexpr int kWarpBits = 5;
constexpr int64_t kWantedBlocks = 1024;    // that keep any GPU busy
constexpr int64_t kMinSegment = 8 << 10;   // elements of a block
constexpr int64_t kMaxSegment = 64 << 10;  // keeps sums of float64 short
constexpr int64_t kScatteredUnit = 1024;
constexpr int64_t kMinRun = 64;        // shorter runs are read as scattered elements
constexpr int64_t kMaxWarpRun = 2048;  // longer runs are read by a whole block
constexpr int64_t kRowsAThread = 16;   // at a time, at most
constexpr int64_t kRowsHeld = 8;       // by a thread
constexpr int64_t kMinRowBytes = 64;
constexpr int64_t kMaxPackedLine = 15;
constexpr int64_t kMaxPackedRow = 4;
constexpr int64_t kMaxPackedElements = 64;  // of a thread

int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }
// Of the smallest power of two that is no less.
int BitsFor(int64_t value) {
  return value <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(value - 1));
}

int64_t Fill(std::span<const int64_t> sizes, std::span<const int64_t> strides,
             long long (&row_sizes)[kReduceRank], long long (&row_strides)[kReduceRank]) {
  int64_t count = 1;
  for (size_t d = 0; d < kReduceRank; ++d) {
    const bool has = d < sizes.size();
    row_sizes[d] = has ? sizes[sizes.size() - 1 - d] : 1;
    row_strides[d] = has ? strides[sizes.size() - 1 - d] : 0;
    count *= row_sizes[d];
  }
  return count;
}

// Elements of one segment where a line's `length` elements are cut: whole units.
int64_t SegmentFor(int64_t length, int64_t wanted, int64_t unit) {
  const int64_t even = DivideUp(length, DivideUp(length, wanted));
  return DivideUp(even, unit) * unit;
}

// Cuts lines for one element type.
class Cutter {
 public:
  Cutter(ReduceRow& row, ElementType type, ReduceResults results)
      : row_(row),
        width_(kGroupBytes / ElementBytes(type)),
        results_(results),
        total_(row.line_count * row.element_count) {}

  void Cut() {
    const int64_t lines = row_.start_sizes[0];
    const bool packed = row_.start_strides[0] == row_.element_count && row_.starts_even;
    if (row_.element_sizes[0] == row_.element_count && row_.element_strides[0] == 1) {
      if (packed && !Spreads() && row_.element_count <= kMaxPackedLine &&
          row_.element_count * width_ <= kMaxPackedElements) {
        return CutPackedLines();
      }
    }
    if (row_.start_sizes[0] > 1 && row_.start_strides[0] == 1) {
      const bool whole = row_.element_count * lines % width_ == 0 || row_.line_count == lines;
      if (!Spreads() && lines <= kMaxPackedRow && lines * width_ <= kMaxPackedElements &&
          lines != width_ && row_.elements_even && row_.element_strides[0] == lines && whole) {
        return CutPackedRows(lines);
      }
      return CutRows(lines);
    }
    if (row_.element_strides[0] == 1 &&
        (row_.element_sizes[0] == row_.element_count || row_.element_sizes[0] >= kMinRun)) {
      return CutRuns();
    }
    CutScattered();
  }

 private:
  // Whether bytes become float64: what is read is little, and what is done for a group long.
  bool Spreads() const { return results_ == ReduceResults::kOfElements && width_ > 4; }

  void CutPackedLines() {
    row_.form = ReduceForm::kPackedLines;
    row_.width = static_cast<int>(row_.element_count);
    row_.lines_a_thread = width_;
    row_.segment_size = row_.element_count;
  }

  void CutPackedRows(int64_t lines) {
    row_.form = ReduceForm::kPackedRows;
    row_.width = static_cast<int>(lines);
    const int64_t step = int64_t{kReduceThreads} * width_;
    const int64_t wanted = DivideUp(kWantedBlocks, row_.line_count / lines);
    row_.segment_size =
        std::max(DivideUp(DivideUp(row_.element_count, wanted), step) * step, 4 * step);
    row_.segment_count = DivideUp(row_.element_count, row_.segment_size);
  }

  // Of rows at least kMinRowBytes are read.
  bool HoldRows(int64_t across) {
    const int down_bits = BitsFor(DivideUp(row_.element_count, kRowsHeld));
    const int64_t row_bytes = int64_t{kGroupBytes / width_ * row_.width}
                              << (kBlockBits - down_bits);
    if (results_ == ReduceResults::kOfLines || !row_.elements_even || down_bits > kBlockBits ||
        row_bytes < kMinRowBytes || 2 * across < 1 << (kBlockBits - down_bits)) {
      return false;
    }
    row_.form = ReduceForm::kHeldRows;
    row_.across_bits = kBlockBits - down_bits;
    row_.width =
        16 * row_.width + static_cast<int>(DivideUp(row_.element_count, int64_t{1} << down_bits));
    row_.segment_size = row_.element_count;
    return true;
  }

  void CutRows(int64_t lines) {
    row_.form = ReduceForm::kRows;
    const int64_t wide = std::min(width_, Spreads() ? 4 : 8);
    row_.width = static_cast<int>(lines % wide == 0 ? wide : 1);
    const int64_t across = DivideUp(lines, row_.width);
    if (HoldRows(across)) return;
    row_.across_bits = std::min(BitsFor(across), kWarpBits);
    // Of short lines a thread takes several elements all the same.
    while (row_.across_bits < std::min(BitsFor(across), kBlockBits) &&
           row_.element_count << row_.across_bits < kRowsAThread * kReduceThreads) {
      ++row_.across_bits;
    }
    const int64_t tiles =
        row_.line_count / lines * DivideUp(lines, int64_t{row_.width} << row_.across_bits);
    const int64_t step = kRowsAThread * kReduceThreads >> row_.across_bits;
    const int64_t wanted = DivideUp(row_.element_count, DivideUp(kWantedBlocks, tiles));
    row_.segment_size = DivideUp(wanted, step) * step;
    row_.segment_count = DivideUp(row_.element_count, row_.segment_size);
  }

  // A line of one run that the registers of a team hold.
  bool Hold(int64_t groups) {
    if (row_.run_count > 1 || Spreads()) return false;
    if (groups <= 8 << kWarpBits) {
      row_.form = ReduceForm::kHeldTeams;
      row_.width = groups <= kFewGroups << kWarpBits ? kFewGroups : 8;
      row_.team_bits = std::min(BitsFor(DivideUp(groups, row_.width)), kWarpBits);
    } else if (groups <= 16 << kBlockBits) {
      row_.form = ReduceForm::kHeldBlocks;
      row_.team_bits = kBlockBits;
      row_.width = 1 << std::max(BitsFor(DivideUp(groups, kReduceThreads)), 1);
    } else {
      return false;
    }
    row_.segment_size = row_.element_count;
    return true;
  }

  void CutRuns() {
    const int64_t run = row_.element_sizes[0];
    row_.run_count = row_.element_count / run;
    row_.parts = row_.runs_a_segment = 1;
    if (Hold(DivideUp(run, width_))) return;
    const int64_t groups = DivideUp(std::min(run, kMaxSegment), width_);
    const bool blocks = run > kMaxWarpRun;
    row_.form = blocks ? ReduceForm::kBlocks : ReduceForm::kTeams;
    row_.team_bits =
        blocks ? kBlockBits : std::min(BitsFor(DivideUp(groups, kFewGroups)), kWarpBits);
    const bool few = groups <= kFewGroups << row_.team_bits || width_ > 4;
    row_.width = Spreads() ? 1 : few || results_ == ReduceResults::kOfElements ? kFewGroups : 8;
    // A warp has its share of what a block would have.
    const int64_t teams = blocks ? 1 : kReduceThreads >> kWarpBits;
    const int64_t wanted = std::clamp(total_ / kWantedBlocks, kMinSegment, kMaxSegment) / teams;
    const int64_t piece = int64_t{row_.width * width_} << row_.team_bits;
    if (run <= wanted) {
      row_.segment_size = run;
      row_.runs_a_segment = std::min<int64_t>(wanted / run, row_.run_count);
    } else {
      row_.segment_size = SegmentFor(run, wanted, piece);
    }
    row_.parts = DivideUp(run, row_.segment_size);
    row_.segment_count = DivideUp(row_.run_count, row_.runs_a_segment) * row_.parts;
  }

  void CutScattered() {
    row_.form = ReduceForm::kScattered;
    const int64_t wanted = std::clamp(total_ / kWantedBlocks, kMinSegment, kMaxSegment);
    row_.segment_size = SegmentFor(row_.element_count, wanted, kScatteredUnit);
    row_.segment_count = DivideUp(row_.element_count, row_.segment_size);
    const int64_t length = std::min<int64_t>(row_.element_count, row_.segment_size);
    row_.team_bits = length > kMaxWarpRun ? kBlockBits : std::min(BitsFor(length / 2), kWarpBits);
  }

  ReduceRow& row_;
  const int width_;  // elements of a group
  const ReduceResults results_;
  const int64_t total_;
};

}  // namespace

ReduceRow MakeReduceRow(const LineShape& lines, ElementType type, ReduceResults results) {
  ReduceRow row = {};
  row.width = 1;
  row.line_count = Fill(lines.start_sizes, lines.start_strides, row.start_sizes, row.start_strides);
  row.element_count =
      Fill(lines.element_sizes, lines.element_strides, row.element_sizes, row.element_strides);
  row.starts_even = row.start_sizes[0] == row.line_count;
  row.elements_even = row.element_sizes[0] == row.element_count;
  row.form = ReduceForm::kScattered;
  row.segment_count = row.segment_size = 1;
  if (row.line_count == 0 || row.element_count == 0) return row;
  Cutter(row, type, results).Cut();
  // The fewer the lines, the fewer partials has each thread; but neighbours read 128 bytes.
  row.merge_bits = std::min(BitsFor(row.line_count), kWarpBits);
  while (row.merge_bits > 2 && (row.segment_count << row.merge_bits) > 4 * kReduceThreads) {
    --row.merge_bits;
  }
  return row;
}

int64_t ReduceBlockCount(const ReduceRow& row) {
  if (row.line_count == 0) return 0;
  switch (row.form) {
    case ReduceForm::kPackedLines:
      return DivideUp(row.line_count, int64_t{kReduceThreads} * row.lines_a_thread);
    case ReduceForm::kPackedRows:
      return row.line_count / row.width * row.segment_count;
    case ReduceForm::kRows:
    case ReduceForm::kHeldRows: {
      const int64_t lines = row.start_sizes[0];
      const int64_t width = row.form == ReduceForm::kRows ? row.width : row.width / 16;
      const int64_t tiles = DivideUp(lines, width << row.across_bits);
      return row.line_count / lines * tiles * row.segment_count;
    }
    default:
      break;
  }
  return DivideUp((row.line_count * row.segment_count) << row.team_bits, kReduceThreads);
}

int64_t ReduceMergeBlockCount(const ReduceRow& row) {
  return row.segment_count > 1 ? DivideUp(row.line_count, int64_t{1} << row.merge_bits) : 0;
}

int64_t ReducePartialBytes(const ReduceRow& row) {
  return row.segment_count > 1 ? row.line_count * row.segment_count * kPartialBytes : 0;
}

}  // namespace gpucall::cuda
