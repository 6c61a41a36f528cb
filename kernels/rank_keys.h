// Elements as keys: unsigned numbers in the order of the elements, from which they can be had back.
#ifndef GPUCALL_KERNELS_RANK_KEYS_H_
#define GPUCALL_KERNELS_RANK_KEYS_H_

#include <cstdint>

#include "kernels/numbers.h"

namespace gpucall {

// -0 comes before 0; all NaNs are one, the last. Floats have 4 or 8 bytes. For host and device.
template <class Bits>
constexpr Bits RankKey(Bits bits, Numbers numbers) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  constexpr auto kInfinity = static_cast<Bits>(sizeof(Bits) == 8 ? 0x7ff0000000000000 : 0x7f800000);
  if (numbers == Numbers::kBool) return bits != 0 ? Bits{1} : Bits{0};
  if (numbers == Numbers::kSigned) return static_cast<Bits>(bits ^ kSign);
  if (numbers != Numbers::kFloat) return bits;
  if (static_cast<Bits>(bits & ~kSign) > kInfinity) return static_cast<Bits>(~Bits{0});
  return static_cast<Bits>((bits & kSign) != 0 ? ~bits : bits | kSign);
}

// The element whose key it is.
template <class Bits>
constexpr Bits BitsOfRankKey(Bits key, Numbers numbers) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  if (numbers == Numbers::kSigned) return static_cast<Bits>(key ^ kSign);
  if (numbers != Numbers::kFloat) return key;
  return static_cast<Bits>((key & kSign) != 0 ? key ^ kSign : ~key);
}

}  // namespace gpucall

#endif  // GPUCALL_KERNELS_RANK_KEYS_H_
