// What the loops under filters do, row by row. Rows are aligned arrays of their type.
#ifndef GPUCALL_KERNELS_CPU_LOOPS_FILTER_LOOPS_H_
#define GPUCALL_KERNELS_CPU_LOOPS_FILTER_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/elementwise.h"

namespace gpucall::cpu {

// Loops work in whole vectors: rows read or written must extend this far past their last element.
inline constexpr size_t kRowSlackBytes = 64;

// One term of a sum: weight * rows[row][offset + i].
template <class Real>
struct Tap {
  size_t offset;
  uint32_t row;
  Real weight;
};

// out[i] = the taps' terms summed in their order, for i < count. No taps: zeros.
template <class Real>
using WeightedSum = void (*)(const Real* const* rows, const Tap<Real>* taps, size_t tap_count,
                             Real* out, size_t count);
struct SumTable {
  WeightedSum<float> sum_float32;
  WeightedSum<double> sum_float64;
};

// Running sums of a uint8 image.
struct BoxTable {
  // sums[i] += entering[i] - leaving[i], for i < count.
  void (*move_down)(const uint8_t* entering, const uint8_t* leaving, uint32_t* sums, size_t count);
  // out[i] = the sum over c < column_count of columns[i + c * step], for i < count. `scratch` has
  // the size of `columns`: count + (column_count - 1) * step.
  void (*sum_along)(const uint32_t* columns, size_t column_count, size_t step, uint32_t* scratch,
                    uint32_t* out, size_t count);
  // out[i] = sums[i] * factor.
  void (*scale_float32)(const uint32_t* sums, float factor, float* out, size_t count);
  void (*scale_float64)(const uint32_t* sums, double factor, double* out, size_t count);
};

// Medians are taken of keys: integers in the order of the elements, NaN last.
using Key8 = uint8_t;   // uint8
using Key32 = int32_t;  // float32
using Key64 = int64_t;  // float64

// A window for element i of a row: rows[r][i + c * step] for r < row_count, c < column_count.
template <class Key>
struct KeyWindow {
  const Key* const* rows;
  size_t row_count, column_count, step;
};
// out[i] = the element of rank floor(n / 2) of the n in the window, for i < count.
// REQUIRES: n is at most the loop's limit.
template <class Key>
using Select = void (*)(const KeyWindow<Key>& window, Key* out, size_t count);
inline constexpr size_t kMaxExchangeCount = 49;
inline constexpr size_t kMaxBitwiseCount = 255;

// Column histograms of a uint8 image: for each column how often each value occurs in it, then how
// often each run of 16 values does.
inline constexpr size_t kHistogramSize = 256 + 16;
// out[i] = the value of rank `rank` in columns i .. i + column_count - 1, for i < count. Counts fit
// uint16_t.
using HistogramRow = void (*)(const uint16_t* columns, size_t column_count, size_t rank, Key8* out,
                              size_t count);

// out[i] = the smaller, or larger, of a[i] and b[i], for i < count. `out` may be a or b, and may
// overlap them from behind.
template <class Key>
using Choose = void (*)(const Key* a, const Key* b, Key* out, size_t count);
template <class Key>
struct ChooseTable {
  Choose<Key> smaller, larger;
};

struct MedianTable {
  // By exchanging smallest and largest, for n <= kMaxExchangeCount.
  Select<Key8> exchange8;
  Select<Key32> exchange32;
  Select<Key64> exchange64;
  // Bit by bit, counting the elements below, for n <= kMaxBitwiseCount.
  Select<Key8> bitwise8;
  HistogramRow histogram8;
  ChooseTable<Key8> choose8;
  ChooseTable<Key32> choose32;
  ChooseTable<Key64> choose64;
  // Elements to keys and back. All NaN become one.
  ConvertLoop keys_of_float32, keys_of_float64;
  ConvertLoop float32_of_keys, float64_of_keys;
};

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_LOOPS_FILTER_LOOPS_H_
