// Figures of repeated measurements.
#ifndef GPUCALL_TESTS_BENCH_STATISTICS_H_
#define GPUCALL_TESTS_BENCH_STATISTICS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gpucall {

// The value that a part `q` of them, 0 to 1, do not exceed. 0 for none.
inline double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto index = static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

inline double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_STATISTICS_H_
