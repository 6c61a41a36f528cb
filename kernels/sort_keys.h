// The order of sorts: keys of elements, which are their bits as unsigned numbers in that order.
#ifndef GPUCALL_KERNELS_SORT_KEYS_H_
#define GPUCALL_KERNELS_SORT_KEYS_H_

#include <cstdint>

#include "kernels/numbers.h"

namespace gpucall::sort {

struct KeyRule {
  Numbers numbers = Numbers::kUnsigned;
  bool descending = false;
  uint64_t infinity = 0;  // its bits, of kFloat: larger magnitudes are NaN
};

// Equal for elements that compare equal, zeros of unlike signs too, and for all NaNs, which are
// larger than all numbers. IEEE 754 magnitudes order as their bits do.
template <class Bits>
constexpr Bits KeyOf(Bits bits, const KeyRule& rule) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  constexpr auto kAll = static_cast<Bits>(~Bits{0});
  Bits key = bits;
  Bits flip = kAll;
  if (rule.numbers == Numbers::kBool) {
    key = bits != 0 ? Bits{1} : Bits{0};
    flip = Bits{1};
  } else if (rule.numbers == Numbers::kSigned) {
    key = static_cast<Bits>(bits ^ kSign);
  } else if (rule.numbers == Numbers::kFloat) {
    const auto magnitude = static_cast<Bits>(bits & ~kSign);
    const bool negative = bits != magnitude;
    key = static_cast<Bits>(negative ? ~bits : bits | kSign);
    if (magnitude == 0) key = kSign;
    if (magnitude > static_cast<Bits>(rule.infinity)) key = kAll;
  }
  return rule.descending ? static_cast<Bits>(key ^ flip) : key;
}

// How many of a key's low bits are not the same for all.
constexpr int KeyBits(const KeyRule& rule, int element_bytes) {
  return rule.numbers == Numbers::kBool ? 1 : 8 * element_bytes;
}

}  // namespace gpucall::sort

#endif  // GPUCALL_KERNELS_SORT_KEYS_H_
