// Medians of square windows by exchanges: no branches, so keys stay in registers, and exchanges
// that the median does not depend on are left out by the compiler. The includer defines GPUCALL_FN
// (nothing, or __device__ __forceinline__).
//
// Ops has static Min(Key, Key) and Max(Key, Key); a Key may hold several keys that Ops treats
// apart.
#ifndef GPUCALL_KERNELS_CUDA_MEDIAN_NETWORK_H_
#define GPUCALL_KERNELS_CUDA_MEDIAN_NETWORK_H_

#include <array>
#include <cstddef>
#include <utility>

namespace gpucall::cuda {

struct Exchange {
  int low, high;
};

// Batcher's merge exchange sort of `count` keys (Knuth, volume 3, algorithm 5.2.2M): calls
// visit(low, high) for its exchanges in order.
template <class Visit>
constexpr void VisitExchanges(int count, Visit visit) {
  int top = 1;
  while (2 * top < count) top *= 2;
  for (int p = top; p > 0; p /= 2) {
    int q = top, r = 0, d = p;
    while (true) {
      for (int i = 0; i + d < count; ++i) {
        if ((i & p) == r) visit(i, i + d);
      }
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
}

constexpr size_t ExchangeCount(int count) {
  size_t exchanges = 0;
  VisitExchanges(count, [&](int, int) { ++exchanges; });
  return exchanges;
}

template <int kCount>
constexpr auto MakeExchanges() {
  std::array<Exchange, ExchangeCount(kCount)> exchanges = {};
  size_t at = 0;
  VisitExchanges(kCount, [&](int low, int high) { exchanges[at++] = {low, high}; });
  return exchanges;
}

template <class Ops, int kLow, int kHigh, class Key, int kCount>
GPUCALL_FN void CompareExchange(Key (&keys)[kCount]) {
  const Key low = keys[kLow];
  keys[kLow] = Ops::Min(low, keys[kHigh]);
  keys[kHigh] = Ops::Max(low, keys[kHigh]);
}

template <class Ops, class Key, int kCount, size_t... kIndex>
GPUCALL_FN void SortBy(Key (&keys)[kCount], std::index_sequence<kIndex...>) {
  constexpr auto kExchanges = MakeExchanges<kCount>();
  (CompareExchange<Ops, kExchanges[kIndex].low, kExchanges[kIndex].high>(keys), ...);
}

template <class Ops, class Key, int kCount>
GPUCALL_FN void Sort(Key (&keys)[kCount]) {
  SortBy<Ops>(keys, std::make_index_sequence<ExchangeCount(kCount)>());
}

// Where a matrix is sorted along its rows and its columns, element (i, j) is at least as large as
// (i + 1) * (j + 1) elements and at most as large as (side - i) * (side - j), itself counted.
template <int kSide>
constexpr bool IsBelowMedian(int i, int j) {
  return (kSide - i) * (kSide - j) - 1 > kSide * kSide / 2;
}
template <int kSide>
constexpr bool IsAboveMedian(int i, int j) {
  return (i + 1) * (j + 1) - 1 > kSide * kSide / 2;
}

// How many elements lie below the median, and how many may be it.
template <int kSide>
constexpr std::pair<int, int> MedianCounts() {
  int below = 0, candidates = 0;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      if (IsBelowMedian<kSide>(i, j)) {
        ++below;
      } else if (!IsAboveMedian<kSide>(i, j)) {
        ++candidates;
      }
    }
  }
  return {below, candidates};
}

// The median of a square matrix of odd side whose rows are sorted: its columns are sorted too, and
// then the elements that may be it. Changes the matrix.
template <class Ops, class Key, int kSide>
GPUCALL_FN Key MedianOfSortedRows(Key (&rows)[kSide][kSide]) {
  constexpr auto kCounts = MedianCounts<kSide>();
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int j = 0; j < kSide; ++j) {
    Key column[kSide];
    for (int i = 0; i < kSide; ++i) column[i] = rows[i][j];
    Sort<Ops>(column);
    for (int i = 0; i < kSide; ++i) rows[i][j] = column[i];
  }
  Key candidates[kCounts.second];
  int count = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      if (!IsBelowMedian<kSide>(i, j) && !IsAboveMedian<kSide>(i, j)) {
        candidates[count++] = rows[i][j];
      }
    }
  }
  Sort<Ops>(candidates);
  return candidates[kSide * kSide / 2 - kCounts.first];
}

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_MEDIAN_NETWORK_H_
