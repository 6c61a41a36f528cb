#include "kernels/cpu/sort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace gpucall::cpu {
namespace {

struct Entry {
  uint64_t key;
  int64_t index;
  bool operator<(const Entry& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

// Fewer than that are sorted by comparison.
constexpr int64_t kMinRadix = 256;

// By the low `bits` of the keys, least significant byte first; where the result is, of the two.
Entry* RadixSort(Entry* from, Entry* to, int64_t count, int bits) {
  std::array<std::array<int64_t, 256>, 8> counts = {};
  const int digits = (bits + 7) / 8;
  for (int64_t i = 0; i < count; ++i) {
    for (int d = 0; d < digits; ++d) ++counts[d][from[i].key >> (8 * d) & 255];
  }
  for (int d = 0; d < digits; ++d) {
    std::array<int64_t, 256>& starts = counts[d];
    if (starts[from[0].key >> (8 * d) & 255] == count) continue;  // all are the same
    int64_t start = 0;
    for (int64_t& digit : starts) start += std::exchange(digit, start);
    for (int64_t i = 0; i < count; ++i) to[starts[from[i].key >> (8 * d) & 255]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

// The first `kept` in order.
const Entry* Order(Entry* entries, Entry* spare, int64_t count, int64_t kept, int bits) {
  if (kept <= count / 8) {
    std::nth_element(entries, entries + kept, entries + count);
    std::sort(entries, entries + kept);
    return entries;
  }
  if (count >= kMinRadix) return RadixSort(entries, spare, count, bits);
  std::sort(entries, entries + count);
  return entries;
}

template <class Bits>
void SortLines(const std::byte* x, const sort::KeyRule& rule, const SortShape& shape,
               SortResult result, Entry* entries, std::byte* out) {
  const int bits = sort::KeyBits(rule, sizeof(Bits));
  const auto at = [](auto* data, int64_t number, size_t bytes) {
    return data + static_cast<size_t>(number) * bytes;
  };
  for (int64_t line = 0; line < shape.outer * shape.inner; ++line) {
    const int64_t o = line / shape.inner, i = line % shape.inner;
    const std::byte* const first = at(x, o * shape.count * shape.inner + i, sizeof(Bits));
    for (int64_t e = 0; e < shape.count; ++e) {
      Bits element;
      std::memcpy(&element, at(first, e * shape.inner, sizeof(Bits)), sizeof(Bits));
      entries[e] = {sort::KeyOf(element, rule), e};
    }
    const Entry* const sorted =
        Order(entries, entries + shape.count, shape.count, shape.kept, bits);
    const int64_t target = o * shape.kept * shape.inner + i;
    for (int64_t r = 0; r < shape.kept; ++r) {
      const int64_t number = target + r * shape.inner;
      if (result == SortResult::kIndices) {
        std::memcpy(at(out, number, sizeof(int64_t)), &sorted[r].index, sizeof(int64_t));
      } else {
        std::memcpy(at(out, number, sizeof(Bits)),
                    at(first, sorted[r].index * shape.inner, sizeof(Bits)), sizeof(Bits));
      }
    }
  }
}

}  // namespace

size_t SortScratchBytes(int64_t count) { return 2 * static_cast<size_t>(count) * sizeof(Entry); }

void Sort(const std::byte* x, size_t element_bytes, const sort::KeyRule& rule,
          const SortShape& shape, SortResult result, std::byte* scratch, std::byte* out) {
  if (shape.kept == 0) return;
  auto* const entries = reinterpret_cast<Entry*>(scratch);
  switch (element_bytes) {
    case 1:
      return SortLines<uint8_t>(x, rule, shape, result, entries, out);
    case 2:
      return SortLines<uint16_t>(x, rule, shape, result, entries, out);
    case 4:
      return SortLines<uint32_t>(x, rule, shape, result, entries, out);
    default:
      return SortLines<uint64_t>(x, rule, shape, result, entries, out);
  }
}

}  // namespace gpucall::cpu
