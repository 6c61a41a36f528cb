#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/line_filter.h"
#include "kernels/cpu/window_filter.h"
#include "server/device/cpu_step.h"
#include "server/device/filter_forms.h"
#include "server/device/numbers.h"

namespace gpucall {
namespace {

// cval as an element of `dtype`.
std::array<std::byte, 8> FillOf(double cval, DType dtype) {
  std::array<std::byte, 8> fill = {};
  cpu::FindCastLoop(cpu::ElementType::kFloat64, ElementTypeOf(dtype))(&cval, fill.data(), 1);
  return fill;
}

cpu::WindowFilterShape ShapeOf(const WindowFilterStep& step, const Shape& array) {
  const WindowFilterAttributes& window = step.attributes;
  const size_t rank = std::max<size_t>(array.size(), 1);
  cpu::WindowFilterShape shape = {.shape = {array.begin(), array.end()},
                                  .borders = std::vector(rank, BorderRule::kNearest),
                                  .size = std::vector<int64_t>(rank, 1),
                                  .before = std::vector<int64_t>(rank, 0),
                                  .offsets = OffsetsOf(window, rank)};
  if (array.empty()) shape.shape = {1};
  for (size_t i = 0; i < window.axes.size(); ++i) {
    const auto d = static_cast<size_t>(window.axes[i]);
    shape.borders[d] = BorderRuleOf(window.modes[i]);
    shape.size[d] = window.size[i];
    shape.before[d] = window.before[i];
  }
  return shape;
}

// Drops the elements under a weight of 0, which take no part; gives the other weights.
std::vector<double> TakeWeights(const double* kernel, bool flip, cpu::WindowFilterShape& shape) {
  const size_t rank = shape.shape.size(), count = shape.offsets.size() / rank;
  std::vector<double> weights;
  std::vector<int64_t> offsets;
  for (size_t m = 0; m < count; ++m) {
    const double weight = kernel[flip ? count - 1 - m : m];
    if (weight == 0) continue;
    weights.push_back(weight);
    const auto first = shape.offsets.begin() + static_cast<int64_t>(m * rank);
    offsets.insert(offsets.end(), first, first + static_cast<int64_t>(rank));
  }
  shape.offsets = std::move(offsets);
  return weights;
}

}  // namespace

absl::Status RunOnCpu(const LineFilterStep& step, const CpuValues& values, CpuMemory&) {
  const LineFilterAttributes& line = step.attributes;
  const DType dtype = values.type(step.x).dtype;
  const cpu::LineFilterShape shape = {.outer = step.lines.outer,
                                      .count = step.lines.count,
                                      .inner = step.lines.inner,
                                      .size = line.size,
                                      .before = line.before,
                                      .border = BorderRuleOf(line.mode),
                                      .cval = line.cval};
  const std::byte* x = values.data(step.x);
  std::byte* const out = values.target(step.output);
  if (line.op == LineFilterAttributes::Op::kSum) {
    cpu::LineSum(x, ElementTypeOf(dtype), shape, line.weights, line.divisor, out,
                 ElementTypeOf(values.type(step.output).dtype));
    return absl::OkStatus();
  }
  cpu::LineExtreme(x, NumbersOf(dtype), ElementSize(dtype), shape, FillOf(line.cval, dtype).data(),
                   line.op == LineFilterAttributes::Op::kMaximum, out);
  return absl::OkStatus();
}

absl::Status RunOnCpu(const WindowFilterStep& step, const CpuValues& values, CpuMemory&) {
  const WindowFilterAttributes& window = step.attributes;
  const DType dtype = values.type(step.x).dtype;
  cpu::WindowFilterShape shape = ShapeOf(step, values.type(step.x).shape);
  const std::byte* x = values.data(step.x);
  std::byte* const out = values.target(step.output);
  if (window.form == WindowFilterAttributes::Form::kRank) {
    cpu::WindowRank(x, NumbersOf(dtype), ElementSize(dtype), shape, window.rank,
                    FillOf(window.cval, dtype).data(), out);
    return absl::OkStatus();
  }
  std::vector<double> kernel(static_cast<size_t>(values.type(step.weights).count()));
  std::copy_n(values.data(step.weights), kernel.size() * sizeof(double),
              reinterpret_cast<std::byte*>(kernel.data()));
  const std::vector<double> weights = TakeWeights(kernel.data(), window.flip, shape);
  cpu::WindowSum(x, ElementTypeOf(dtype), shape, weights, window.cval, out,
                 ElementTypeOf(values.type(step.output).dtype));
  return absl::OkStatus();
}

}  // namespace gpucall
