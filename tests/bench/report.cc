#include "tests/bench/report.h"

#include <cstddef>
#include <cstdio>

#include "tests/bench/statistics.h"

namespace gpucall {

void PrintHeader() {
  std::printf("%-52s %10s %10s %7s  %-15s %s\n", "ours / control", "ours", "control", "ratio",
              "spread", "target");
}

void Print(const Comparison& comparison) {
  std::vector<double> ratios;
  for (size_t i = 0; i < comparison.ours.size(); ++i) {
    ratios.push_back(comparison.ours[i] / comparison.control[i]);
  }
  const std::string name = comparison.name + ", " + comparison.unit;
  std::printf("%-52s %10.1f %10.1f %7.2f  %6.2f ..%6.2f %s\n", name.c_str(),
              Median(comparison.ours), Median(comparison.control), Median(ratios),
              Quantile(ratios, 0), Quantile(ratios, 1), comparison.target.c_str());
  std::fflush(stdout);
}

}  // namespace gpucall
