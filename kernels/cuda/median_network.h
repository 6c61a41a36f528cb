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

#ifdef __CUDA_ARCH__
#define GPUCALL_UNROLL _Pragma("unroll")
#else
#define GPUCALL_UNROLL
#endif

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

template <class Ops, class Key>
GPUCALL_FN Key MiddleOf(Key a, Key b, Key c) {
  return Ops::Max(Ops::Min(a, b), Ops::Min(Ops::Max(a, b), c));
}

// Batcher's odd-even merge (Knuth, volume 3, 5.3.4): the sorted keys a and b, sorted together.
template <class Ops, class Key, int kA, int kB>
GPUCALL_FN void Merge(const Key (&a)[kA], const Key (&b)[kB], Key (&merged)[kA + kB]) {
  if constexpr (kA == 1 && kB == 1) {
    merged[0] = Ops::Min(a[0], b[0]);
    merged[1] = Ops::Max(a[0], b[0]);
  } else {
    // Those at even places of both, those at odd places, then neighbours.
    constexpr int kEvenA = (kA + 1) / 2, kEvenB = (kB + 1) / 2;
    Key even_a[kEvenA], even_b[kEvenB], even[kEvenA + kEvenB];
    GPUCALL_UNROLL
    for (int i = 0; i < kEvenA; ++i) even_a[i] = a[2 * i];
    GPUCALL_UNROLL
    for (int i = 0; i < kEvenB; ++i) even_b[i] = b[2 * i];
    Merge<Ops>(even_a, even_b, even);
    constexpr int kOddA = kA / 2, kOddB = kB / 2;
    Key odd[kOddA + kOddB];
    if constexpr (kOddA == 0) {
      GPUCALL_UNROLL
      for (int i = 0; i < kOddB; ++i) odd[i] = b[2 * i + 1];
    } else if constexpr (kOddB == 0) {
      GPUCALL_UNROLL
      for (int i = 0; i < kOddA; ++i) odd[i] = a[2 * i + 1];
    } else {
      Key odd_a[kOddA], odd_b[kOddB];
      GPUCALL_UNROLL
      for (int i = 0; i < kOddA; ++i) odd_a[i] = a[2 * i + 1];
      GPUCALL_UNROLL
      for (int i = 0; i < kOddB; ++i) odd_b[i] = b[2 * i + 1];
      Merge<Ops>(odd_a, odd_b, odd);
    }
    merged[0] = even[0];
    GPUCALL_UNROLL
    for (int i = 1; i < kA + kB; i += 2) {
      const int at = (i - 1) / 2;
      if (at + 1 >= kEvenA + kEvenB) {
        merged[i] = odd[at];
        continue;
      }
      if (at >= kOddA + kOddB) {
        merged[i] = even[at + 1];
        continue;
      }
      merged[i] = Ops::Min(odd[at], even[at + 1]);
      if (i + 1 < kA + kB) merged[i + 1] = Ops::Max(odd[at], even[at + 1]);
    }
  }
}

// Medians of four neighbouring windows of 3x3, 5x5 or 7x7 over columns, each sorted.
inline constexpr int kMedianWindows = 4;
template <class Ops, class Key>
GPUCALL_FN void MediansOfColumns(const Key (&columns)[kMedianWindows + 2][3],
                                 Key (&medians)[kMedianWindows]) {
  GPUCALL_UNROLL
  for (int e = 0; e < kMedianWindows; ++e) {
    const auto& a = columns[e];
    const auto& b = columns[e + 1];
    const auto& c = columns[e + 2];
    // The largest of the smallest, the middle one of the middle ones, the smallest of the largest.
    medians[e] =
        MiddleOf<Ops>(Ops::Max(Ops::Max(a[0], b[0]), c[0]), MiddleOf<Ops>(a[1], b[1], c[1]),
                      Ops::Min(Ops::Min(a[2], b[2]), c[2]));
  }
}
template <class Ops, class Key>
GPUCALL_FN void MediansOfColumns(const Key (&columns)[kMedianWindows + 4][5],
                                 Key (&medians)[kMedianWindows]) {
  Key pairs[3][10];  // of columns 1 and 2, 3 and 4, 5 and 6
  GPUCALL_UNROLL
  for (int p = 0; p < 3; ++p) Merge<Ops>(columns[2 * p + 1], columns[2 * p + 2], pairs[p]);
  GPUCALL_UNROLL
  for (int half = 0; half < 2; ++half) {
    // The median of four columns and a fifth is the fifth's, or of the four's ranks 7 to 12.
    Key four[20];
    Merge<Ops>(pairs[half], pairs[half + 1], four);
    GPUCALL_UNROLL
    for (int side = 0; side < 2; ++side) {
      const auto& fifth = columns[2 * half + (side == 0 ? 0 : 5)];
      Key median = four[12];
      GPUCALL_UNROLL
      for (int i = 0; i < 5; ++i) median = Ops::Min(median, Ops::Max(four[7 + i], fifth[4 - i]));
      medians[2 * half + side] = median;
    }
  }
}

template <class Ops, class Key>
GPUCALL_FN void MediansOfColumns(const Key (&columns)[kMedianWindows + 6][7],
                                 Key (&medians)[kMedianWindows]) {
  // All windows hold columns 3 to 6; two hold 1 and 2, two 7 and 8, and each another one.
  Key pairs[4][14], four[28];
  GPUCALL_UNROLL
  for (int p = 0; p < 4; ++p) Merge<Ops>(columns[2 * p + 1], columns[2 * p + 2], pairs[p]);
  Merge<Ops>(pairs[1], pairs[2], four);
  GPUCALL_UNROLL
  for (int e = 0; e < kMedianWindows; ++e) {
    constexpr int kOther[] = {0, 7, 2, 9};
    Key three[21];
    Merge<Ops>(columns[kOther[e]], pairs[e < 2 ? 0 : 3], three);
    // Of rank 24: of i elements of the three columns, the others of the four.
    Key median = four[24];
    GPUCALL_UNROLL
    for (int i = 1; i <= 21; ++i) median = Ops::Min(median, Ops::Max(four[24 - i], three[i - 1]));
    medians[e] = median;
  }
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
  GPUCALL_UNROLL
  for (int j = 0; j < kSide; ++j) {
    Key column[kSide];
    for (int i = 0; i < kSide; ++i) column[i] = rows[i][j];
    Sort<Ops>(column);
    for (int i = 0; i < kSide; ++i) rows[i][j] = column[i];
  }
  Key candidates[kCounts.second];
  int count = 0;
  GPUCALL_UNROLL
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
