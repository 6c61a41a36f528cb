// Exchanges only compare, so a network that is right for all inputs of zeros and ones is right for
// all inputs (Knuth, volume 3, theorem Z of 5.3.4). A word holds 64 such inputs.
#define GPUCALL_FN inline
#include "kernels/cuda/median_network.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>

#include "gtest/gtest.h"

namespace gpucall::cuda {
namespace {

struct Bits {
  static uint64_t Min(uint64_t a, uint64_t b) { return a & b; }
  static uint64_t Max(uint64_t a, uint64_t b) { return a | b; }
};

// Key number `key` of the 64 inputs from number `first` on: bit `key` of the input's number.
uint64_t Keys(int key, uint64_t first) {
  constexpr uint64_t kLow[] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                               0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
  if (key < 6) return kLow[key];
  return (first >> key & 1) != 0 ? ~uint64_t{0} : 0;
}

template <int kSide>
uint64_t Medians(uint64_t first) {
  uint64_t rows[kSide][kSide];
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) rows[i][j] = Keys(i * kSide + j, first);
    Sort<Bits>(rows[i]);
  }
  return MedianOfSortedRows<Bits>(rows);
}

uint64_t Expected(int count, uint64_t first) {
  uint64_t expected = 0;
  for (uint64_t i = 0; i < 64; ++i) {
    if (std::popcount(first + i) > count / 2) expected |= uint64_t{1} << i;
  }
  return expected;
}

TEST(MedianNetwork, Side3) {
  for (uint64_t first = 0; first < uint64_t{1} << 9; first += 64) {
    ASSERT_EQ(Medians<3>(first), Expected(9, first)) << first;
  }
}

TEST(MedianNetwork, Side5) {
  for (uint64_t first = 0; first < uint64_t{1} << 25; first += 64) {
    ASSERT_EQ(Medians<5>(first), Expected(25, first)) << first;
  }
}

template <int kSide>
void ExpectMediansOfColumns(uint64_t seed) {
  // Windows of random zeros and ones, with all counts of ones.
  std::mt19937_64 random(seed);
  constexpr int kColumns = kMedianWindows + kSide - 1;
  for (int round = 0; round < 20000; ++round) {
    uint64_t columns[kColumns][kSide], counts[kMedianWindows][64] = {};
    for (int c = 0; c < kColumns; ++c) {
      for (uint64_t& key : columns[c]) {
        key = round % 3 == 0   ? random()
              : round % 3 == 1 ? random() & random()
                               : random() | random();
        for (int e = std::max(0, c - kSide + 1); e <= std::min(c, kMedianWindows - 1); ++e) {
          for (int bit = 0; bit < 64; ++bit) counts[e][bit] += key >> bit & 1;
        }
      }
      Sort<Bits>(columns[c]);
    }
    uint64_t medians[kMedianWindows];
    MediansOfColumns<Bits>(columns, medians);
    for (int e = 0; e < kMedianWindows; ++e) {
      for (int bit = 0; bit < 64; ++bit) {
        ASSERT_EQ(medians[e] >> bit & 1, counts[e][bit] > kSide * kSide / 2 ? 1u : 0u);
      }
    }
  }
}

TEST(MedianNetwork, ColumnsOf3) { ExpectMediansOfColumns<3>(1); }
TEST(MedianNetwork, ColumnsOf5) { ExpectMediansOfColumns<5>(2); }
TEST(MedianNetwork, ColumnsOf7) { ExpectMediansOfColumns<7>(3); }

template <int kCount>
void ExpectSorts() {
  for (uint64_t first = 0; first < uint64_t{1} << kCount; first += 64) {
    uint64_t keys[kCount];
    for (int i = 0; i < kCount; ++i) keys[i] = Keys(i, first);
    Sort<Bits>(keys);
    for (int i = 0; i + 1 < kCount; ++i) ASSERT_EQ(keys[i] & ~keys[i + 1], 0) << first;
  }
}

TEST(MedianNetwork, Sorts) {
  ExpectSorts<2>();
  ExpectSorts<3>();
  ExpectSorts<5>();
  ExpectSorts<8>();
  ExpectSorts<13>();
}

}  // namespace
}  // namespace gpucall::cuda
