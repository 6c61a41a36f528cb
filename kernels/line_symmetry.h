// Whether weights are the same, or the opposite, on both sides of their middle.
#ifndef GPUCALL_KERNELS_LINE_SYMMETRY_H_
#define GPUCALL_KERNELS_LINE_SYMMETRY_H_

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gpucall {

// 1: the same, -1: opposite (within DBL_EPSILON), 0: neither, or of an even number. Sums of the
// first two add pairs of elements first, as scipy.ndimage's do, and so have its bits.
inline int SymmetryOf(const std::vector<double>& weights) {
  const auto half = static_cast<int64_t>(weights.size() / 2);
  if (weights.size() % 2 == 0) return 0;
  bool even = true, odd = true;
  for (int64_t i = 1; i <= half; ++i) {
    const double right = weights[static_cast<size_t>(half + i)];
    const double left = weights[static_cast<size_t>(half - i)];
    // Not NaN > DBL_EPSILON: as there.
    even = even && !(std::abs(right - left) > DBL_EPSILON);
    odd = odd && !(std::abs(right + left) > DBL_EPSILON);
  }
  return even ? 1 : odd ? -1 : 0;
}

}  // namespace gpucall

#endif  // GPUCALL_KERNELS_LINE_SYMMETRY_H_
