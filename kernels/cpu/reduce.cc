#include "kernels/cpu/reduce.h"

#include <algorithm>

#include "kernels/cpu/aligned_array.h"
#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu {
namespace {

constexpr int64_t kMinRowWidth = 8;    // lines side by side that are worth a row
constexpr int64_t kMaxRowWidth = 512;  // accumulators of so many stay in the first cache
constexpr int64_t kRowsSummed = 32;    // in a row, before sums are taken pairwise

int64_t CountOf(const Dimensions& walk) {
  int64_t count = 1;
  for (const int64_t size : walk.sizes) count *= size;
  return count;
}

// Where element `index` of the outer `rank` dimensions lies.
int64_t OffsetOf(const Dimensions& walk, size_t rank, int64_t index) {
  int64_t offset = 0;
  for (size_t d = rank; d-- > 0;) {
    offset += index % walk.sizes[d] * walk.strides[d];
    index /= walk.sizes[d];
  }
  return offset;
}

// Takes the elements of lines into accumulators: those of `width_` neighbouring lines row by row,
// or those of one line run by run.
class Reducer {
 public:
  Reducer(const ReduceLoops& loops, double parameter, const std::byte* x, ElementType type,
          const LineShape& lines)
      : loops_(loops),
        parameter_(parameter),
        x_(x),
        element_bytes_(static_cast<int64_t>(SizeOf(type))),
        lines_(lines),
        by_rows_(loops.apply == nullptr && !lines.starts.sizes.empty() &&
                 lines.starts.strides.back() == 1 && lines.starts.sizes.back() >= kMinRowWidth) {
    const Dimensions& elements = lines.elements;
    if (!by_rows_ && !elements.sizes.empty()) {
      run_count_ = elements.sizes.back();
      run_stride_ = elements.strides.back();
    }
    outer_rank_ = elements.sizes.size() - (by_rows_ || elements.sizes.empty() ? 0 : 1);
    piece_count_ = run_count_ == 0 ? 0 : CountOf(elements) / run_count_;
  }

  void WriteTo(std::byte* out) {
    const Dimensions& starts = lines_.starts;
    const int64_t inner = by_rows_ ? starts.sizes.back() : 1;
    const size_t outer_rank = starts.sizes.size() - (by_rows_ ? 1 : 0);
    const int64_t outer = inner == 0 ? 0 : CountOf(starts) / inner;
    const int64_t count = CountOf(lines_.elements);
    for (int64_t i = 0; i < outer; ++i) {
      const int64_t start = OffsetOf(starts, outer_rank, i);
      for (int64_t column = 0; column < inner; column += kMaxRowWidth) {
        width_ = static_cast<size_t>(std::min(kMaxRowWidth, inner - column));
        const AlignedArray<std::byte> accumulators = Accumulators();
        Add(0, piece_count_, start + column, accumulators.data());
        if (loops_.apply != nullptr) {
          Apply(start, accumulators.data(), out);
          continue;
        }
        loops_.results(parameter_, accumulators.data(), width_, count,
                       out + (i * inner + column) * static_cast<int64_t>(loops_.output_bytes));
      }
    }
  }

 private:
  AlignedArray<std::byte> Accumulators() const {
    AlignedArray<std::byte> accumulators(width_ * loops_.accumulator_bytes);
    loops_.clear(accumulators.data(), width_);
    return accumulators;
  }

  void Apply(int64_t start, const std::byte* accumulator, std::byte* out) const {
    for (int64_t piece = 0; piece < piece_count_; ++piece) {
      const int64_t offset = start + OffsetOf(lines_.elements, outer_rank_, piece);
      loops_.apply(parameter_, accumulator, x_ + offset * element_bytes_, run_stride_,
                   static_cast<size_t>(run_count_),
                   out + offset * static_cast<int64_t>(loops_.output_bytes));
    }
  }

  // Pieces first .. first + count - 1 of the lines that start at `start`.
  void Add(int64_t first, int64_t count, int64_t start, std::byte* accumulators) const {
    if (count > kRowsSummed) {
      const int64_t half = count / 2;
      Add(first, half, start, accumulators);
      const AlignedArray<std::byte> rest = Accumulators();
      Add(first + half, count - half, start, rest.data());
      loops_.merge(parameter_, rest.data(), width_, accumulators);
      return;
    }
    for (int64_t piece = first; piece < first + count; ++piece) {
      const int64_t offset = start + OffsetOf(lines_.elements, outer_rank_, piece);
      const std::byte* const x = x_ + offset * element_bytes_;
      if (by_rows_) {
        loops_.add_row(parameter_, x, width_, piece, accumulators);
      } else {
        loops_.add_run(parameter_, x, run_stride_, static_cast<size_t>(run_count_),
                       piece * run_count_, accumulators);
      }
    }
  }

  const ReduceLoops& loops_;
  const double parameter_;
  const std::byte* const x_;
  const int64_t element_bytes_;
  const LineShape& lines_;
  const bool by_rows_;
  int64_t run_count_ = 1, run_stride_ = 1;
  size_t outer_rank_ = 0;
  int64_t piece_count_ = 0;
  size_t width_ = 1;
};

}  // namespace

void Reduce(size_t row, double parameter, const void* x, ElementType type, const LineShape& lines,
            void* out) {
  const ReduceLoops& loops = BestLevel().reduce.loops[row][static_cast<size_t>(type)];
  Reducer(loops, parameter, static_cast<const std::byte*>(x), type, lines)
      .WriteTo(static_cast<std::byte*>(out));
}

}  // namespace gpucall::cpu
