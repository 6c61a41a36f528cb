// What a benchmark prints: our figure, the control's of the same run, and their ratio.
#ifndef GPUCALL_TESTS_BENCH_REPORT_H_
#define GPUCALL_TESTS_BENCH_REPORT_H_

#include <string>
#include <vector>

namespace gpucall {

// One comparison, measured several times; entry i of `ours` and of `control` were measured one
// after the other.
struct Comparison {
  std::string name;
  std::string unit;
  std::vector<double> ours, control;
  std::string target;  // "<= 2"; empty: none
};

void PrintHeader();
// Medians, and the median, least and greatest of the ratios.
void Print(const Comparison& comparison);

}  // namespace gpucall

#endif  // GPUCALL_TESTS_BENCH_REPORT_H_
