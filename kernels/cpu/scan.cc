#include "kernels/cpu/scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace gpucall::cpu {
namespace {

struct Sum {
  template <class A>
  static constexpr A kStart = std::is_floating_point_v<A> ? A(-0.0) : A(0);  // leaves -0 as it is
  template <class A>
  static A Apply(A a, A b) {
    return a + b;
  }
};
struct Prod {
  template <class A>
  static constexpr A kStart = A(1);
  template <class A>
  static A Apply(A a, A b) {
    return a * b;
  }
};

template <class Op, class T>
void ScanLines(const std::byte* x, const ScanShape& shape, std::byte* out) {
  using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  using Output = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
  constexpr int64_t kLines = 128;  // side by side, where lines are not one after another
  auto* const results = reinterpret_cast<Output*>(out);
  for (int64_t o = 0; o < shape.outer; ++o) {
    for (int64_t left = 0; left < shape.inner; left += kLines) {
      const int64_t lines = std::min(kLines, shape.inner - left);
      std::array<Accumulator, kLines> so_far;
      so_far.fill(Op::template kStart<Accumulator>);
      for (int64_t e = 0; e < shape.count; ++e) {
        const int64_t first = (o * shape.count + e) * shape.inner + left;
        for (int64_t i = 0; i < lines; ++i) {
          T element;
          std::memcpy(&element, x + static_cast<size_t>(first + i) * sizeof(T), sizeof(T));
          Accumulator& a = so_far[static_cast<size_t>(i)];
          a = Op::Apply(a, static_cast<Accumulator>(element));
          results[first + i] = static_cast<Output>(a);
        }
      }
    }
  }
}

// Bools are read as bytes.
struct Truth {
  uint8_t byte;
  explicit operator uint64_t() const { return byte != 0; }
};

template <class Op>
void ScanNumbers(const std::byte* x, Numbers numbers, size_t element_bytes, const ScanShape& shape,
                 std::byte* out) {
  const auto scan = [&]<class T>(T) { ScanLines<Op, T>(x, shape, out); };
  switch (numbers) {
    case Numbers::kBool:
      return scan(Truth());
    case Numbers::kUnsigned:
      if (element_bytes == 1) return scan(uint8_t());
      if (element_bytes == 2) return scan(uint16_t());
      if (element_bytes == 4) return scan(uint32_t());
      return scan(uint64_t());
    case Numbers::kSigned:
      if (element_bytes == 1) return scan(int8_t());
      if (element_bytes == 2) return scan(int16_t());
      if (element_bytes == 4) return scan(int32_t());
      return scan(int64_t());
    case Numbers::kFloat:
      return element_bytes == 4 ? scan(float()) : scan(double());
  }
}

}  // namespace

void Scan(ScanOp op, const std::byte* x, Numbers numbers, size_t element_bytes,
          const ScanShape& shape, std::byte* out) {
  if (op == ScanOp::kSum) {
    ScanNumbers<Sum>(x, numbers, element_bytes, shape, out);
  } else {
    ScanNumbers<Prod>(x, numbers, element_bytes, shape, out);
  }
}

}  // namespace gpucall::cpu
