#include "kernels/cpu/recurrence.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/cpu/parallel.h"

namespace gpucall::cpu {
namespace {

template <class T>
T Load(const std::byte* from, int64_t index) {
  T element;
  std::memcpy(&element, from + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return element;
}

// A number of each of several lines, anywhere among numbers.
template <size_t kLanes>
struct LaneOf {
  typedef double Type __attribute__((vector_size(kLanes * sizeof(double)), may_alias, aligned(8)));
  static_assert(sizeof(Type) == kLanes * sizeof(double));
};
template <>
struct LaneOf<1> {
  using Type = double;
};

// A section over `count` elements at `v`, which become its results; its state is at `z`.
template <size_t kLanes, int kOrder>
void RunSection(const double* b, const double* a, double* z, double* v, int64_t count) {
  using Lane = typename LaneOf<kLanes>::Type;
  auto* const states = reinterpret_cast<Lane*>(z);
  auto* const values = reinterpret_cast<Lane*>(v);
  Lane state[kOrder + 1] = {};
  for (int k = 0; k < kOrder; ++k) state[k] = states[k];
  for (int64_t e = 0; e < count; ++e) {
    const Lane x = values[e], y = state[0] + b[0] * x;
    for (int k = 0; k < kOrder; ++k) state[k] = state[k + 1] + b[k + 1] * x - a[k + 1] * y;
    values[e] = y;
  }
  for (int k = 0; k < kOrder; ++k) states[k] = state[k];
}

// Of any order. The state past the last stays 0.
template <size_t kLanes>
void RunLongSection(int64_t order, const double* b, const double* a, double* z, double* v,
                    int64_t count) {
  using Lane = typename LaneOf<kLanes>::Type;
  auto* const states = reinterpret_cast<Lane*>(z);
  auto* const values = reinterpret_cast<Lane*>(v);
  for (int64_t e = 0; e < count; ++e) {
    const Lane x = values[e], y = states[0] + b[0] * x;
    for (int64_t k = 0; k < order; ++k) {
      states[k] = states[k + 1] + b[k + 1] * x - a[k + 1] * y;
    }
    values[e] = y;
  }
}

// kLanes lines side by side, in blocks of elements; the bits of each are those that it has alone.
template <class T, size_t kLanes>
class Lines {
 public:
  Lines(const Recurrence& of, const std::byte* x, const std::byte* zi, T* y, T* states)
      : of_(of),
        x_(x),
        zi_(zi),
        y_(y),
        states_(states),
        z_(static_cast<size_t>(of.sections * (of.order + 1)) * kLanes) {}

  void operator()(int64_t group) {
    const int64_t lines = of_.outer * of_.inner, first = group * static_cast<int64_t>(kLanes);
    used_ = static_cast<size_t>(std::min(lines - first, static_cast<int64_t>(kLanes)));
    for (size_t l = 0; l < used_; ++l) {
      const int64_t line = first + static_cast<int64_t>(l);
      outer_[l] = line / of_.inner;
      inner_[l] = line % of_.inner;
    }
    std::fill(z_.begin(), z_.end(), 0.0);
    if (zi_ != nullptr) {
      ForEachState([&](double& state, int64_t number) { state = Load<double>(zi_, number); });
    }
    for (int64_t e = 0; e < of_.count; e += kBlock) RunBlock(e, std::min(kBlock, of_.count - e));
    if (states_ != nullptr) {
      ForEachState([&](double state, int64_t number) { states_[number] = static_cast<T>(state); });
    }
  }

 private:
  static constexpr int64_t kBlock = 64;

  void RunBlock(int64_t first, int64_t count) {
    for (size_t l = 0; l < used_; ++l) {
      const int64_t at = (outer_[l] * of_.count + first) * of_.inner + inner_[l];
      for (int64_t e = 0; e < count; ++e) {
        block_[static_cast<size_t>(e) * kLanes + l] = Load<T>(x_, at + e * of_.inner);
      }
    }
    for (int64_t s = 0; s < of_.sections; ++s) RunOne(s, count);
    for (size_t l = 0; y_ != nullptr && l < used_; ++l) {
      T* const y = y_ + (outer_[l] * of_.count + first) * of_.inner + inner_[l];
      for (int64_t e = 0; e < count; ++e) {
        y[e * of_.inner] = static_cast<T>(block_[static_cast<size_t>(e) * kLanes + l]);
      }
    }
  }

  void RunOne(int64_t section, int64_t count) {
    const int64_t size = of_.order + 1;
    const double* const b = of_.b.data() + section * size;
    const double* const a = of_.a.data() + section * size;
    double* const z = z_.data() + section * size * static_cast<int64_t>(kLanes);
    double* const v = block_.data();
    switch (of_.order) {
      case 1:
        return RunSection<kLanes, 1>(b, a, z, v, count);
      case 2:
        return RunSection<kLanes, 2>(b, a, z, v, count);
      case 3:
        return RunSection<kLanes, 3>(b, a, z, v, count);
      case 4:
        return RunSection<kLanes, 4>(b, a, z, v, count);
      default:
        return RunLongSection<kLanes>(of_.order, b, a, z, v, count);
    }
  }

  // visit(state, its number), which may change it.
  template <class Visit>
  void ForEachState(Visit visit) {
    for (int64_t s = 0; s < of_.sections; ++s) {
      for (int64_t k = 0; k < of_.order; ++k) {
        const auto first = static_cast<size_t>(s * (of_.order + 1) + k) * kLanes;
        for (size_t l = 0; l < used_; ++l) {
          visit(z_[first + l],
                ((s * of_.outer + outer_[l]) * of_.order + k) * of_.inner + inner_[l]);
        }
      }
    }
  }

  const Recurrence& of_;
  const std::byte* const x_;
  const std::byte* const zi_;
  T* const y_;
  T* const states_;
  std::vector<double> z_;
  std::array<double, kBlock* kLanes> block_ = {};
  size_t used_ = 0;
  std::array<int64_t, kLanes> outer_ = {}, inner_ = {};
};

template <class T, size_t kLanes>
void RecurIn(const Recurrence& of, const std::byte* x, const std::byte* zi, std::byte* y,
             std::byte* states) {
  constexpr auto kSize = static_cast<int64_t>(kLanes);
  const int64_t lines = of.outer * of.inner;
  const double work =
      static_cast<double>(lines * of.count) * static_cast<double>(of.sections * (of.order + 1));
  ForEach((lines + kSize - 1) / kSize, work, [&] {
    return Lines<T, kLanes>(of, x, zi, reinterpret_cast<T*>(y), reinterpret_cast<T*>(states));
  });
}

template <class T>
void RecurIn(const Recurrence& of, const std::byte* x, const std::byte* zi, std::byte* y,
             std::byte* states) {
  if (of.outer * of.inner < 4) {
    RecurIn<T, 1>(of, x, zi, y, states);
  } else {
    RecurIn<T, 8>(of, x, zi, y, states);
  }
}

}  // namespace

void Recur(const Recurrence& recurrence, const std::byte* x, const std::byte* zi, std::byte* y,
           std::byte* states) {
  if (recurrence.type == Recurrence::Type::kFloat32) {
    RecurIn<float>(recurrence, x, zi, y, states);
  } else {
    RecurIn<double>(recurrence, x, zi, y, states);
  }
}

}  // namespace gpucall::cpu
