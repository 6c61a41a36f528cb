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

// kLanes lines side by side; the bits of each are those that it has alone.
template <class T, size_t kLanes>
class Lines {
 public:
  using Lane = std::array<double, kLanes>;

  Lines(const Recurrence& of, const std::byte* x, const std::byte* zi, T* y, T* states)
      : of_(of),
        x_(x),
        zi_(zi),
        y_(y),
        states_(states),
        z_(static_cast<size_t>(of.sections * (of.order + 1))) {}

  void operator()(int64_t group) {
    const int64_t lines = of_.outer * of_.inner, first = group * static_cast<int64_t>(kLanes);
    used_ = static_cast<size_t>(std::min(lines - first, static_cast<int64_t>(kLanes)));
    for (size_t l = 0; l < used_; ++l) {
      const int64_t line = first + static_cast<int64_t>(l);
      outer_[l] = line / of_.inner;
      inner_[l] = line % of_.inner;
    }
    Start();
    Lane v = {};
    for (int64_t e = 0; e < of_.count; ++e) {
      for (size_t l = 0; l < used_; ++l) v[l] = Load<T>(x_, IndexOf(l, e));
      for (int64_t s = 0; s < of_.sections; ++s) Section(s, v);
      if (y_ == nullptr) continue;
      for (size_t l = 0; l < used_; ++l) y_[IndexOf(l, e)] = static_cast<T>(v[l]);
    }
    if (states_ != nullptr) {
      ForEachState([&](double state, int64_t number) { states_[number] = static_cast<T>(state); });
    }
  }

 private:
  int64_t IndexOf(size_t l, int64_t e) const {
    return (outer_[l] * of_.count + e) * of_.inner + inner_[l];
  }
  Lane& StateAt(int64_t section, int64_t k) {
    return z_[static_cast<size_t>(section * (of_.order + 1) + k)];
  }

  // visit(state, its number), which may change it.
  template <class Visit>
  void ForEachState(Visit visit) {
    for (int64_t s = 0; s < of_.sections; ++s) {
      for (int64_t k = 0; k < of_.order; ++k) {
        for (size_t l = 0; l < used_; ++l) {
          visit(StateAt(s, k)[l],
                ((s * of_.outer + outer_[l]) * of_.order + k) * of_.inner + inner_[l]);
        }
      }
    }
  }

  void Start() {
    std::fill(z_.begin(), z_.end(), Lane{});
    if (zi_ == nullptr) return;
    ForEachState([&](double& state, int64_t number) { state = Load<double>(zi_, number); });
  }

  // `v`: the section's input, then its result. The state past the last stays 0.
  void Section(int64_t s, Lane& v) {
    const double* const b = of_.b.data() + s * (of_.order + 1);
    const double* const a = of_.a.data() + s * (of_.order + 1);
    Lane* const z = &StateAt(s, 0);
    Lane y;
    for (size_t l = 0; l < kLanes; ++l) y[l] = z[0][l] + b[0] * v[l];
    for (int64_t k = 0; k < of_.order; ++k) {
      for (size_t l = 0; l < kLanes; ++l) {
        z[k][l] = z[k + 1][l] + b[k + 1] * v[l] - a[k + 1] * y[l];
      }
    }
    v = y;
  }

  const Recurrence& of_;
  const std::byte* const x_;
  const std::byte* const zi_;
  T* const y_;
  T* const states_;
  std::vector<Lane> z_;
  size_t used_ = 0;
  std::array<int64_t, kLanes> outer_ = {}, inner_ = {};
};

template <class T>
void RecurIn(const Recurrence& of, const std::byte* x, const std::byte* zi, std::byte* y,
             std::byte* states) {
  const int64_t lines = of.outer * of.inner;
  const double work =
      static_cast<double>(lines * of.count) * static_cast<double>(of.sections * (of.order + 1));
  const auto run = [&]<size_t kLanes>(std::integral_constant<size_t, kLanes>) {
    ForEach((lines + static_cast<int64_t>(kLanes) - 1) / static_cast<int64_t>(kLanes), work, [&] {
      return Lines<T, kLanes>(of, x, zi, reinterpret_cast<T*>(y), reinterpret_cast<T*>(states));
    });
  };
  if (lines < 4) {
    run(std::integral_constant<size_t, 1>());
  } else {
    run(std::integral_constant<size_t, 8>());
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
