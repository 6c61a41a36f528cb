#include <type_traits>

#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/loops/vectorize.h"

namespace gpucall::cpu::GPUCALL_LEVEL {
namespace {

// Nearest integer, halves to even, for |x| <= 2^31: adding 1.5 * 2^52 leaves no room for a
// fraction.
double Round(double x) {
  constexpr double kNoFraction = 6755399441055744.0;
  return (x + kNoFraction) - kNoFraction;
}
// For |x| <= 2^8.
float Round(float x) {
  constexpr float kNoFraction = 12582912.0f;
  return (x + kNoFraction) - kNoFraction;
}

template <class To, class Real>
To Saturate(Real x, Real low, Real high) {
  x = x > low ? x : low;
  x = x < high ? x : high;
  return static_cast<To>(static_cast<int>(Round(x)));
}

template <class To, class From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_same_v<From, bool>) {
    return x ? To(1) : To(0);
  } else if constexpr (std::is_same_v<To, unsigned char> && std::is_same_v<From, int>) {
    return static_cast<unsigned char>(x < 0 ? 0 : x > 255 ? 255 : x);
  } else if constexpr (std::is_same_v<To, unsigned char> && std::is_floating_point_v<From>) {
    return Saturate<To>(x, From(0), From(255));  // NaN > 0 is false
  } else if constexpr (std::is_same_v<To, int> && std::is_floating_point_v<From>) {
    const double zero_if_nan = x == x ? static_cast<double>(x) : 0.0;
    return Saturate<To>(zero_if_nan, -2147483648.0, 2147483647.0);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void Loop(const void* in, void* out, size_t count) {
  const auto* source = static_cast<const Element<From>*>(in);
  auto* target = static_cast<Element<To>*>(out);
  GPUCALL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    target[i].value = Convert<To>(static_cast<From>(source[i].value));
  }
}

}  // namespace

namespace {

template <class T>
constexpr bool kIsOffered =
    std::is_same_v<T, bool> || std::is_same_v<T, unsigned char> || std::is_same_v<T, int> ||
    std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class From, class To>
constexpr ConvertLoop LoopOf() {
  if constexpr (kIsOffered<From> && kIsOffered<To>) {
    return Loop<From, To>;
  } else {
    return nullptr;
  }
}

// Types that only casts have.
struct Float16;
struct Bfloat16;
template <class T>
struct Complex;

#define GPUCALL_DTYPE(Name, name, kind, size_bytes, To) \
  table.loops[from][to++] = LoopOf<From, To>();
template <class From>
constexpr void SetLoopsFrom(ConvertTable& table, size_t from) {
  size_t to = 0;
#include "kernels/dtypes.def"
}
#undef GPUCALL_DTYPE

constexpr ConvertTable MakeTable() {
  ConvertTable table = {};
  size_t from = 0;
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, From) SetLoopsFrom<From>(table, from++);
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
  return table;
}

}  // namespace

const ConvertTable kConvert = MakeTable();

}  // namespace gpucall::cpu::GPUCALL_LEVEL
