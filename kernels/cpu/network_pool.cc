#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/network.h"
#include "kernels/cpu/network_image.h"
#include "kernels/cpu/parallel.h"

namespace gpucall::cpu {
namespace {

// Places of a window along an axis that are in the image, and how many are in the padded image.
struct Range {
  int64_t start, first, last, padded;  // in the image: start + i * dilation, first <= i < last
};

Range RangeOf(const WindowShape& s, size_t axis, int64_t at) {
  const int64_t size = axis == 0 ? s.rows : s.columns, step = s.dilation[axis];
  const int64_t start = at * s.stride[axis] - s.before[axis];
  // Of the places start + i * step, i < s.size, those below `limit`.
  const auto below = [&](int64_t limit) {
    return limit <= start ? 0 : std::min(s.size[axis], (limit - start + step - 1) / step);
  };
  const int64_t last = below(size);
  return {start, std::min(below(0), last), last, below(size + s.after[axis])};
}

template <class T>
struct Max {
  T largest = -std::numeric_limits<T>::infinity();
  void Add(T x) { largest = x > largest || std::isnan(x) ? x : largest; }
  T Result(int64_t) const { return largest; }
};
template <class T>
struct Mean {
  T sum = 0;
  void Add(T x) { sum += x; }
  T Result(int64_t count) const { return sum / static_cast<T>(count); }
};

// Rows of the result that are together in memory: of a channel, or of all.
template <class T, class Fold>
class Pool {
 public:
  Pool(const WindowShape& shape, ElementType type, CountPadding padding, const std::byte* x,
       std::byte* out)
      : s_(shape), type_(type), padding_(padding), x_(x), out_(out) {}

  void Run() {
    const int64_t planes = s_.channels_last ? 1 : s_.channels;
    const double work = static_cast<double>(s_.images * s_.channels) *
                        static_cast<double>(s_.out_rows * s_.out_columns) *
                        static_cast<double>(s_.size[0] * s_.size[1]);
    ForEach(s_.images * planes * s_.out_rows, work, [&] {
      const int64_t lanes = s_.channels_last ? s_.channels : 1;
      return [&, lanes, rows = AlignedArray<T>(static_cast<size_t>(s_.columns * lanes)),
              folds = AlignedArray<Fold>(static_cast<size_t>(s_.out_columns * lanes)),
              results = AlignedArray<T>(static_cast<size_t>(s_.out_columns * lanes))](int64_t i) {
        RunRow(i / s_.out_rows, i % s_.out_rows, lanes, rows.data(), folds.data(), results.data());
      };
    });
  }

 private:
  // Row `y` of the result's plane number `plane`, `lanes` elements a position.
  void RunRow(int64_t plane, int64_t y, int64_t lanes, T* row, Fold* folds, T* results) const {
    const int64_t count = s_.out_columns * lanes;
    std::fill_n(folds, count, Fold());
    const Range down = RangeOf(s_, 0, y);
    for (int64_t i = down.first; i < down.last; ++i) {
      const int64_t source = down.start + i * s_.dilation[0];
      LoadElements(x_, type_, (plane * s_.rows + source) * s_.columns * lanes, s_.columns * lanes,
                   row);
      AddRow(row, lanes, folds);
    }
    for (int64_t at = 0; at < s_.out_columns; ++at) {
      const Range along = RangeOf(s_, 1, at);
      const int64_t divisor = padding_ == CountPadding::kYes
                                  ? down.padded * along.padded
                                  : (down.last - down.first) * (along.last - along.first);
      for (int64_t lane = 0; lane < lanes; ++lane) {
        results[at * lanes + lane] = folds[at * lanes + lane].Result(divisor);
      }
    }
    StoreElements(results, count, type_, (plane * s_.out_rows + y) * count, out_);
  }

  void AddRow(const T* row, int64_t lanes, Fold* folds) const {
    for (int64_t at = 0; at < s_.out_columns; ++at) {
      const Range along = RangeOf(s_, 1, at);
      for (int64_t j = along.first; j < along.last; ++j) {
        const T* const from = row + (along.start + j * s_.dilation[1]) * lanes;
        for (int64_t lane = 0; lane < lanes; ++lane) folds[at * lanes + lane].Add(from[lane]);
      }
    }
  }

  const WindowShape& s_;
  const ElementType type_;
  const CountPadding padding_;
  const std::byte* const x_;
  std::byte* const out_;
};

template <template <class> class Fold>
void Run(const WindowShape& shape, ElementType type, CountPadding padding, const std::byte* x,
         std::byte* out) {
  if (type == ElementType::kFloat64) {
    Pool<double, Fold<double>>(shape, type, padding, x, out).Run();
  } else {
    Pool<float, Fold<float>>(shape, type, padding, x, out).Run();
  }
}

}  // namespace

void MaxPool2d(const WindowShape& shape, ElementType type, const std::byte* x, std::byte* out) {
  Run<Max>(shape, type, CountPadding::kNo, x, out);
}

void AvgPool2d(const WindowShape& shape, ElementType type, CountPadding padding, const std::byte* x,
               std::byte* out) {
  Run<Mean>(shape, type, padding, x, out);
}

}  // namespace gpucall::cpu
