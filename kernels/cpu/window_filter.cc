#include "kernels/cpu/window_filter.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "kernels/rank_keys.h"

namespace gpucall::cpu {
namespace {

constexpr int64_t kOutside = -1;

// Where the elements of windows lie, row by row of the array (along its last dimension).
class Places {
 public:
  explicit Places(const WindowFilterShape& window)
      : window_(window), rank_(window.shape.size()), members_(window.offsets.size() / rank_) {
    strides_.assign(rank_, 1);
    for (size_t d = rank_ - 1; d > 0; --d) strides_[d - 1] = strides_[d] * window.shape[d];
    row_coordinates_.assign(rank_, 0);
    // Of the last dimension by coordinate plus offset, from the least on.
    const size_t last = rank_ - 1;
    for (int64_t i = -window.before[last];
         i < window.shape[last] + window.size[last] - 1 - window.before[last]; ++i) {
      in_row_.push_back(InsideIndex(i, window.shape[last], window.borders[last]));
    }
    rows_.assign(members_, 0);
  }

  int64_t members() const { return static_cast<int64_t>(members_); }
  int64_t row_length() const { return window_.shape.back(); }
  int64_t row_count() const { return strides_[0] * window_.shape[0] / row_length(); }

  void SetRow(int64_t row) {
    int64_t rest = row;
    for (size_t d = rank_ - 1; d-- > 0;) {
      row_coordinates_[d] = rest % window_.shape[d];
      rest /= window_.shape[d];
    }
    for (size_t m = 0; m < members_; ++m) {
      int64_t place = 0;
      for (size_t d = 0; d + 1 < rank_ && place != kOutside; ++d) {
        const int64_t index = InsideIndex(row_coordinates_[d] + window_.offsets[m * rank_ + d],
                                          window_.shape[d], window_.borders[d]);
        place = index < 0 ? kOutside : place + index * strides_[d];
      }
      rows_[m] = place;
    }
  }
  // Of member `m`, by column: add Row(m) to Columns(m)[column]; outside where either is kOutside.
  int64_t Row(int64_t m) const { return rows_[static_cast<size_t>(m)]; }
  const int64_t* Columns(int64_t m) const {
    const size_t last = rank_ - 1;
    return in_row_.data() + window_.offsets[static_cast<size_t>(m) * rank_ + last] +
           window_.before[last];
  }

 private:
  const WindowFilterShape& window_;
  const size_t rank_, members_;
  std::vector<int64_t> strides_, row_coordinates_, in_row_, rows_;
};

template <class T>
T Load(const std::byte* x, int64_t index) {
  T value;
  std::memcpy(&value, x + index * int64_t{sizeof(T)}, sizeof(T));
  return value;
}

template <class T>
void SumRow(const std::byte* x, const Places& places, const std::vector<double>& weights,
            double cval, std::vector<double>& sums) {
  std::fill(sums.begin(), sums.end(), 0.0);
  const auto columns = static_cast<int64_t>(sums.size());
  for (int64_t m = 0; m < places.members(); ++m) {
    const double weight = weights[static_cast<size_t>(m)];
    const int64_t row = places.Row(m);
    const int64_t* in_row = places.Columns(m);
    for (int64_t column = 0; column < columns; ++column) {
      const bool outside = row == kOutside || in_row[column] == kOutside;
      const double element = outside ? cval : static_cast<double>(Load<T>(x, row + in_row[column]));
      sums[static_cast<size_t>(column)] += weight * element;
    }
  }
}

template <class T>
void Sum(const std::byte* x, Places& places, const std::vector<double>& weights, double cval,
         std::byte* out, ElementType to) {
  const CastLoop store = FindCastLoop(ElementType::kFloat64, to);
  std::vector<double> sums(static_cast<size_t>(places.row_length()));
  for (int64_t row = 0; row < places.row_count(); ++row) {
    places.SetRow(row);
    SumRow<T>(x, places, weights, cval, sums);
    store(sums.data(), out, sums.size());
    out += sums.size() * SizeOf(to);
  }
}

template <class Bits>
void Rank(const std::byte* x, Numbers numbers, Places& places, int64_t rank, const std::byte* cval,
          std::byte* out) {
  const Bits fill = RankKey(Load<Bits>(cval, 0), numbers);
  std::vector<Bits> keys(static_cast<size_t>(places.members()));
  for (int64_t row = 0; row < places.row_count(); ++row) {
    places.SetRow(row);
    for (int64_t column = 0; column < places.row_length(); ++column) {
      for (int64_t m = 0; m < places.members(); ++m) {
        const int64_t start = places.Row(m), in_row = places.Columns(m)[column];
        const bool outside = start == kOutside || in_row == kOutside;
        keys[static_cast<size_t>(m)] =
            outside ? fill : RankKey(Load<Bits>(x, start + in_row), numbers);
      }
      const auto chosen = keys.begin() + rank;
      std::nth_element(keys.begin(), chosen, keys.end());
      const Bits result = BitsOfRankKey(*chosen, numbers);
      std::memcpy(out, &result, sizeof(Bits));
      out += sizeof(Bits);
    }
  }
}

bool IsEmpty(const WindowFilterShape& window) {
  return std::count(window.shape.begin(), window.shape.end(), 0) > 0;
}

}  // namespace

void WindowSum(const std::byte* x, ElementType from, const WindowFilterShape& window,
               const std::vector<double>& weights, double cval, std::byte* out, ElementType to) {
  if (IsEmpty(window)) return;
  Places places(window);
  const auto sum = [&]<class T>(T) { Sum<T>(x, places, weights, cval, out, to); };
  switch (from) {
    case ElementType::kUint8:
      return sum(uint8_t());
    case ElementType::kUint16:
      return sum(uint16_t());
    case ElementType::kUint32:
      return sum(uint32_t());
    case ElementType::kUint64:
      return sum(uint64_t());
    case ElementType::kInt8:
      return sum(int8_t());
    case ElementType::kInt16:
      return sum(int16_t());
    case ElementType::kInt32:
      return sum(int32_t());
    case ElementType::kInt64:
      return sum(int64_t());
    case ElementType::kFloat32:
      return sum(float());
    default:
      return sum(double());
  }
}

void WindowRank(const std::byte* x, Numbers numbers, size_t element_bytes,
                const WindowFilterShape& window, int64_t rank, const std::byte* cval,
                std::byte* out) {
  if (IsEmpty(window)) return;
  Places places(window);
  switch (element_bytes) {
    case 1:
      return Rank<uint8_t>(x, numbers, places, rank, cval, out);
    case 2:
      return Rank<uint16_t>(x, numbers, places, rank, cval, out);
    case 4:
      return Rank<uint32_t>(x, numbers, places, rank, cval, out);
    default:
      return Rank<uint64_t>(x, numbers, places, rank, cval, out);
  }
}

}  // namespace gpucall::cpu
