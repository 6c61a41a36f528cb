// Recurrences along lines: kernels, beside a device copy of the signal.
#include <string>
#include <vector>

#include "kernels/cuda/recurrence.h"
#include "tests/bench/cuda_timing.h"

namespace gpucall {
namespace {

// Of one section, or of second-order ones; b first, then a.
struct Filter {
  const char* name;
  int sections, order;
  std::vector<double> coefficients;
};

std::vector<Filter> Filters() {
  std::vector<double> four;
  for (int i = 0; i < 4; ++i) four.insert(four.end(), {0.25, 0.5, 0.25});
  for (int i = 0; i < 4; ++i) four.insert(four.end(), {1, -0.6, 0.5});
  std::vector<double> echo(2 * 1001);
  echo[0] = echo[1001] = 1;
  echo.back() = -0.5;
  return {
      {"order 2", 1, 2, {0.25, 0.5, 0.25, 1, -0.6, 0.5}},
      {"order 8", 1, 8, {1, 0, 0, 0, 0, 0, 0, 0, 0.1, 1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}},
      {"4 sections", 4, 2, four},
      {"order 1000", 1, 1000, echo}};
}

struct Signal {
  const char* name;
  long long outer, count, inner;
};
constexpr Signal kSignals[] = {
    {"1 x 10M", 1, 10'000'000, 1},         {"1 x 100k", 1, 100'000, 1},
    {"64 x 1M", 64, 1'000'000, 1},         {"10k x 4k", 10'000, 4'000, 1},
    {"1M x 64", 1'000'000, 64, 1},         {"1M x 64, axis 0", 1, 1'000'000, 64},
    {"4k x 10k, axis 0", 1, 4'000, 10'000}};

void Bench(const Filter& filter, const Signal& signal) {
  cuda::Recurrence r = {};
  r.outer = signal.outer;
  r.count = signal.count;
  r.inner = signal.inner;
  r.sections = filter.sections;
  r.order = filter.order;
  std::vector<double> table = filter.coefficients;
  const size_t count = table.size();
  const std::vector<double> power =
      cuda::RecurrencePower(filter.sections, filter.order, filter.coefficients);
  table.insert(table.end(), power.begin(), power.end());
  const auto bytes = static_cast<int64_t>(table.size() * sizeof(double));
  const Buffers device(1, bytes, false);
  CHECK_CUDA(cudaMemcpy(device[0], table.data(), static_cast<size_t>(bytes), cudaMemcpyDefault));
  r.coefficients = static_cast<const double*>(device[0]);
  const bool divided = !power.empty() && cuda::RecurrenceDivides(r);
  const Buffers scratch(1, divided ? cuda::RecurrenceScratchBytes(r) : 8, false);
  if (divided) {
    r.power = r.coefficients + count;
    r.scratch = static_cast<double*>(scratch[0]);
  }
  const std::string title = std::string(filter.name) + ", " + signal.name;
  const int64_t size = signal.outer * signal.count * signal.inner * 4;
  CompareWithCopy(title.c_str(), size, size, true, [&](void* x, void*, void* y) {
    cuda::Recurrence launched = r;
    launched.x = x;
    launched.y = y;
    CHECK_CUDA(cuda::LaunchRecurrence(launched, nullptr));
  });
}

}  // namespace
}  // namespace gpucall

int main() {
  for (const gpucall::Filter& filter : gpucall::Filters()) {
    for (const gpucall::Signal& signal : gpucall::kSignals) {
      // A warp for each line: slow on few of them.
      if (filter.order > 8 && signal.outer * signal.inner < 1000) continue;
      gpucall::Bench(filter, signal);
    }
  }
}
