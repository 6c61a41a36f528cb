// Elements that depend on nothing but their index: the same bits on a CPU and on a GPU, as long as
// a*b+c is not contracted. Compiled for both.
#ifndef GPUCALL_KERNELS_CREATION_FUNCTIONS_H_
#define GPUCALL_KERNELS_CREATION_FUNCTIONS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define GPUCALL_BOTH __host__ __device__
#else
#define GPUCALL_BOTH
#endif

namespace gpucall::creation {

enum class Kind : uint8_t { kArange, kUniform, kNormal, kIntegers };

struct Recipe {
  Kind kind;
  // Significant bits of a uniform number: at most those of the element type.
  int bits;
  // kArange of floats: element 0, element 1, and what element i >= 2 adds i times to the first.
  // kUniform: the lowest, unused, and the width. kNormal: mean, unused, standard deviation.
  double first, second, step;
  // kArange of integers: element 0, and the difference of neighbours. kIntegers: the lowest.
  int64_t integer_first, integer_step;
  uint64_t range;  // kIntegers: how many numbers there are to choose from; 0: 2^64
  uint64_t seed;
};

struct Words {
  uint32_t word[4];
};

// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
GPUCALL_BOTH inline Words Philox(uint64_t counter, uint64_t key) {
  Words x = {
      {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), uint32_t{0}, 0u}};
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * x.word[0], b = uint64_t{0xCD9E8D57} * x.word[2];
    x = {{static_cast<uint32_t>(b >> 32) ^ x.word[1] ^ key0, static_cast<uint32_t>(b),
          static_cast<uint32_t>(a >> 32) ^ x.word[3] ^ key1, static_cast<uint32_t>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}

// 64 random bits for each index; neighbours share a block of Philox.
GPUCALL_BOTH inline uint64_t RandomBits(uint64_t index, uint64_t seed) {
  const Words words = Philox(index / 2, seed);
  const int at = static_cast<int>(index % 2) * 2;
  return uint64_t{words.word[at + 1]} << 32 | words.word[at];
}

// ln(x), 0 < x <= 1, to 2 ULP: 2 artanh((m - 1) / (m + 1)) as a power series, x = m * 2^e.
GPUCALL_BOTH inline double Log(double x) {
  int exponent = 0;
  double m = frexp(x, &exponent);  // 0.5 <= m < 1
  if (m < 0.70710678118654752) {
    m *= 2;
    exponent -= 1;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * z;
  return exponent * 0.69314718055994531 + (2 * s + 2 * s * series);
}

// cos(2 pi u) where `quarter` is 0, and sin(2 pi u) where it is 3; 0 <= u < 1.
GPUCALL_BOTH inline double Wave(double u, int quarter) {
  const double turns = u * 4;
  const int nearest = static_cast<int>(turns + 0.5);
  const double r = (turns - nearest) * 1.5707963267948966, z = r * r;
  const int quadrant = (nearest + quarter) % 4;
  double even = 0, odd = 0;
  for (int n = 18; n >= 2; n -= 2) {
    even = (even + (n % 4 == 0 ? 1.0 : -1.0)) * z / (n * (n - 1.0));
    odd = (odd + (n % 4 == 0 ? 1.0 : -1.0)) * z / (n * (n + 1.0));
  }
  const double cosine = 1 + even, sine = r + r * odd;
  switch (quadrant) {
    case 0:
      return cosine;
    case 1:
      return -sine;
    case 2:
      return -cosine;
    default:
      return sine;
  }
}

GPUCALL_BOTH inline double Fraction(uint64_t bits, int count) {
  return static_cast<double>(bits >> (64 - count)) / static_cast<double>(uint64_t{1} << count);
}

// Box and Muller's: two independent ones from each pair of uniform numbers.
GPUCALL_BOTH inline double Normal(uint64_t index, uint64_t seed) {
  const uint64_t pair = index / 2 * 2;
  const double radius = 1 - Fraction(RandomBits(pair, seed), 53);
  const double angle = Fraction(RandomBits(pair + 1, seed), 53);
  return sqrt(-2 * Log(radius)) * Wave(angle, index % 2 == 0 ? 0 : 3);
}

GPUCALL_BOTH inline uint64_t HighProduct(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffffu)) >> 32);
}

// Floats: kArange, kUniform and kNormal; unsigned integers: kArange and kIntegers, modulo 2^n.
template <class T>
GPUCALL_BOTH T ElementAt(const Recipe& recipe, uint64_t index) {
  if constexpr (std::is_integral_v<T>) {
    const auto first = static_cast<uint64_t>(recipe.integer_first);
    if (recipe.kind == Kind::kArange) {
      return static_cast<T>(first + index * static_cast<uint64_t>(recipe.integer_step));
    }
    const uint64_t bits = RandomBits(index, recipe.seed);
    return static_cast<T>(first + (recipe.range == 0 ? bits : HighProduct(bits, recipe.range)));
  } else {
    if (recipe.kind == Kind::kArange) {
      if (index < 2) return static_cast<T>(index == 0 ? recipe.first : recipe.second);
      return static_cast<T>(recipe.first) + static_cast<T>(index) * static_cast<T>(recipe.step);
    }
    const double number = recipe.kind == Kind::kNormal
                              ? Normal(index, recipe.seed)
                              : Fraction(RandomBits(index, recipe.seed), recipe.bits);
    return static_cast<T>(recipe.first + number * recipe.step);
  }
}

}  // namespace gpucall::creation

#undef GPUCALL_BOTH

#endif  // GPUCALL_KERNELS_CREATION_FUNCTIONS_H_
