// Ranks of large windows over keys of any size, in time proportional to the window's side.
#ifndef GPUCALL_KERNELS_CPU_RANK_WINDOW_H_
#define GPUCALL_KERNELS_CPU_RANK_WINDOW_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gpucall::cpu {

// A block of keys, sorted once, so that a window over it is a set of distinct ranks: a bit for each
// rank, and a finger at the word that holds the wanted one's. As the window slides, the bits of a
// column go, those of another come, and the finger moves by a few words.
template <class Key>
class RankWindow {
 public:
  // `keys`: rows of `columns` keys. The window is rows x window_columns; wanted is its key of rank
  // `rank`.
  RankWindow(std::vector<Key> keys, int64_t columns, int64_t window_rows, int64_t window_columns,
             int64_t rank);

  // found[x] = the wanted key of the window whose first row is `row` and first column is x.
  // REQUIRES: the block holds those windows.
  void FindRow(int64_t row, std::span<Key> found);

 private:
  void Start(int64_t row);
  void AddColumn(int64_t row, int64_t column);
  void RemoveColumn(int64_t row, int64_t column);
  Key Find();

  const int64_t columns_, window_rows_, window_columns_, rank_;
  std::vector<Key> sorted_;
  std::vector<uint32_t> ranks_;  // of each key of the block
  std::vector<uint64_t> bits_;   // of the window's ranks
  size_t word_ = 0;              // the finger
  int64_t below_ = 0;            // ranks of the window in words before it
};

template <class Key>
RankWindow<Key>::RankWindow(std::vector<Key> keys, int64_t columns, int64_t window_rows,
                            int64_t window_columns, int64_t rank)
    : columns_(columns),
      window_rows_(window_rows),
      window_columns_(window_columns),
      rank_(rank),
      sorted_(keys.size()),
      ranks_(keys.size()),
      bits_(keys.size() / 64 + 1) {
  std::vector<std::pair<Key, uint32_t>> order(keys.size());
  for (uint32_t i = 0; i < keys.size(); ++i) order[i] = {keys[i], i};
  std::sort(order.begin(), order.end());
  for (uint32_t rank = 0; rank < order.size(); ++rank) {
    sorted_[rank] = order[rank].first;
    ranks_[order[rank].second] = rank;
  }
}

template <class Key>
void RankWindow<Key>::FindRow(int64_t row, std::span<Key> found) {
  Start(row);
  for (size_t x = 0; x < found.size(); ++x) {
    if (x > 0) {
      RemoveColumn(row, static_cast<int64_t>(x) - 1);
      AddColumn(row, static_cast<int64_t>(x) + window_columns_ - 1);
    }
    found[x] = Find();
  }
}

template <class Key>
void RankWindow<Key>::Start(int64_t row) {
  std::fill(bits_.begin(), bits_.end(), 0);
  below_ = 0;
  word_ = bits_.size() / 2;
  for (int64_t column = 0; column < window_columns_; ++column) AddColumn(row, column);
}

template <class Key>
void RankWindow<Key>::AddColumn(int64_t row, int64_t column) {
  for (int64_t r = 0; r < window_rows_; ++r) {
    const uint32_t rank = ranks_[static_cast<size_t>((row + r) * columns_ + column)];
    bits_[rank / 64] |= uint64_t{1} << (rank % 64);
    below_ += rank / 64 < word_;
  }
}

template <class Key>
void RankWindow<Key>::RemoveColumn(int64_t row, int64_t column) {
  for (int64_t r = 0; r < window_rows_; ++r) {
    const uint32_t rank = ranks_[static_cast<size_t>((row + r) * columns_ + column)];
    bits_[rank / 64] &= ~(uint64_t{1} << (rank % 64));
    below_ -= rank / 64 < word_;
  }
}

template <class Key>
Key RankWindow<Key>::Find() {
  while (below_ > rank_) below_ -= std::popcount(bits_[--word_]);
  for (int count; below_ + (count = std::popcount(bits_[word_])) <= rank_; ++word_) {
    below_ += count;
  }
  uint64_t word = bits_[word_];
  for (int64_t skip = rank_ - below_; skip > 0; --skip) word &= word - 1;
  return sorted_[word_ * 64 + static_cast<size_t>(std::countr_zero(word))];
}

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_RANK_WINDOW_H_
