#include <math.h>

#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vector.h"
#include "kernels/cpu/loops/vectorize.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

template <class Key>
struct Limits;
template <>
struct Limits<Key8> {
  static constexpr Key8 kMax = 255;
};
template <>
struct Limits<Key32> {
  static constexpr Key32 kMax = 0x7fffffff;
};
template <>
struct Limits<Key64> {
  static constexpr Key64 kMax = 0x7fffffffffffffff;
};

template <class V>
inline void Exchange(V& low, V& high) {
  const V smaller = low < high ? low : high;
  high = low < high ? high : low;
  low = smaller;
}

// Moves the smallest of held[0 .. size) to its start and the largest to its end. size >= 3.
template <class V>
[[gnu::always_inline]] inline void MoveExtremes(V* held, size_t size) {
  for (size_t i = 0; i < size / 2; ++i) Exchange(held[i], held[size - 1 - i]);
  for (size_t i = 1; i < (size + 1) / 2; ++i) Exchange(held[0], held[i]);
  for (size_t i = size / 2; i < size - 1; ++i) Exchange(held[i], held[size - 1]);
}

// The middle of an odd count of elements: holds half of them and two more, of which the smallest
// and the largest cannot be the middle; drops both, takes the next. An even count gets one more
// element that is as large as any, which leaves rank n / 2 where it is.
template <class Key>
struct Elements {
  const Key* const* sources;
  size_t n, i;
  Vector<Key> operator[](size_t e) const {
    return e < n ? LoadVector(sources[e] + i) : Vector<Key>{} + Limits<Key>::kMax;
  }
};

// For a count known here: all in registers.
template <size_t size, size_t next, class Key>
[[gnu::always_inline]] inline void Narrow(const Elements<Key>& elements, Vector<Key>* held) {
  MoveExtremes(held, size);
  if constexpr (size > 3) {
    held[0] = elements[next];
    Narrow<size - 1, next + 1>(elements, held);
  }
}
template <size_t count, class Key>
void FixedMedians(const Key* const* sources, Key* out, size_t row_count) {
  constexpr size_t kHeld = count / 2 + 2;
  for (size_t i = 0; i < row_count; i += kLanes<Key>) {
    const Elements<Key> elements = {sources, count, i};
    Vector<Key> held[kHeld];
    for (size_t e = 0; e < kHeld; ++e) held[e] = elements[e];
    Narrow<kHeld, kHeld>(elements, held);
    StoreVector<Key>(held[1], out + i);
  }
}

template <class Key>
void AnyMedians(const Key* const* sources, size_t n, Key* out, size_t row_count) {
  const size_t held_count = (n | 1) / 2 + 2;
  for (size_t i = 0; i < row_count; i += kLanes<Key>) {
    const Elements<Key> elements = {sources, n, i};
    Vector<Key> held[kMaxExchangeCount / 2 + 2];
    for (size_t e = 0; e < held_count; ++e) held[e] = elements[e];
    size_t size = held_count;
    for (size_t next = size; size > 3; --size, ++next) {
      MoveExtremes(held, size);
      held[0] = elements[next];
    }
    MoveExtremes(held, 3);
    StoreVector<Key>(held[1], out + i);
  }
}

template <class Key>
void ExchangeRow(const KeyWindow<Key>& window, Key* out, size_t count) {
  const Key* sources[kMaxExchangeCount];
  size_t n = 0;
  for (size_t r = 0; r < window.row_count; ++r) {
    for (size_t c = 0; c < window.column_count; ++c) {
      sources[n++] = window.rows[r] + c * window.step;
    }
  }
  if (n == 1) {
    __builtin_memcpy(out, sources[0], count * sizeof(Key));
  } else if (n == 9) {
    FixedMedians<9>(sources, out, count);
  } else if (n == 25) {
    FixedMedians<25>(sources, out, count);
  } else if (n == 49) {
    FixedMedians<49>(sources, out, count);
  } else {
    AnyMedians(sources, n, out, count);
  }
}

// The largest value with at most n / 2 elements below it, found from its highest bit down.
void BitwiseRow(const KeyWindow<Key8>& window, Key8* out, size_t count) {
  using V = Vector<Key8>;
  const V rank = V{} + static_cast<Key8>(window.row_count * window.column_count / 2);
  for (size_t i = 0; i < count; i += kLanes<Key8>) {
    V value = {};
    for (int bit = 128; bit > 0; bit >>= 1) {
      const V candidate = value | static_cast<Key8>(bit);
      V below = {};
      for (size_t r = 0; r < window.row_count; ++r) {
        const Key8* source = window.rows[r] + i;
        for (size_t c = 0; c < window.column_count; ++c) {
          below -= reinterpret_cast<V>(LoadVector(source + c * window.step) < candidate);
        }
      }
      value = below <= rank ? candidate : value;
    }
    StoreVector<Key8>(value, out + i);
  }
}

inline void AddColumn(const uint16_t* column, uint16_t* histogram) {
  for (size_t k = 0; k < kHistogramSize; ++k) histogram[k] += column[k];
}

// First index whose running sum passes `rank`; leaves in `rank` what remains of it.
inline size_t FindRank(const uint16_t* counts, size_t& rank) {
  size_t k = 0;
  for (; rank >= counts[k]; ++k) rank -= counts[k];
  return k;
}

// S. Perreault, P. Hebert, "Median Filtering in Constant Time", IEEE TIP 16(9), 2007: the window's
// histogram moves by a column at a time.
void HistogramMedians(const uint16_t* columns, size_t column_count, size_t rank, Key8* out,
                      size_t count) {
  uint16_t histogram[kHistogramSize] = {};
  for (size_t c = 0; c < column_count; ++c) AddColumn(columns + c * kHistogramSize, histogram);
  for (size_t i = 0; i < count; ++i) {
    size_t left = rank;
    const size_t run = FindRank(histogram + 256, left);
    out[i] = static_cast<Key8>(16 * run + FindRank(histogram + 16 * run, left));
    if (i + 1 == count) break;
    const uint16_t* leaving = columns + i * kHistogramSize;
    const uint16_t* entering = leaving + column_count * kHistogramSize;
    for (size_t k = 0; k < kHistogramSize; ++k) histogram[k] += entering[k] - leaving[k];
  }
}

template <class Key>
void Smaller(const Key* a, const Key* b, Key* out, size_t count) {
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) out[i] = a[i] < b[i] ? a[i] : b[i];
}
template <class Key>
void Larger(const Key* a, const Key* b, Key* out, size_t count) {
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) out[i] = a[i] < b[i] ? b[i] : a[i];
}

// Negative floats have the order of their bits reversed; -0 comes before 0.
template <class Key>
inline Key Reorder(Key bits) {
  return bits ^ ((bits >> (8 * sizeof(Key) - 1)) & Limits<Key>::kMax);
}
template <class Real, class Key>
void KeysOf(const void* in, void* out, size_t count) {
  const auto* elements = static_cast<const Element<Real>*>(in);
  auto* keys = static_cast<Key*>(out);
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    const Real x = elements[i].value;
    keys[i] = Reorder(__builtin_bit_cast(Key, x == x ? x : static_cast<Real>(NAN)));
  }
}
template <class Real, class Key>
void RealsOf(const void* in, void* out, size_t count) {
  const auto* keys = static_cast<const Key*>(in);
  auto* elements = static_cast<Element<Real>*>(out);
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    elements[i].value = __builtin_bit_cast(Real, Reorder(keys[i]));
  }
}

}  // namespace

const MedianTable kMedians = {
    .exchange8 = ExchangeRow<Key8>,
    .exchange32 = ExchangeRow<Key32>,
    .exchange64 = ExchangeRow<Key64>,
    .bitwise8 = BitwiseRow,
    .histogram8 = HistogramMedians,
    .choose8 = {Smaller<Key8>, Larger<Key8>},
    .choose32 = {Smaller<Key32>, Larger<Key32>},
    .choose64 = {Smaller<Key64>, Larger<Key64>},
    .keys_of_float32 = KeysOf<float, Key32>,
    .keys_of_float64 = KeysOf<double, Key64>,
    .float32_of_keys = RealsOf<float, Key32>,
    .float64_of_keys = RealsOf<double, Key64>,
};

}  // namespace gpucall::cpu::GPUCALL_LEVEL
