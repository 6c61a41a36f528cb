#include <algorithm>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/filter.h"
#include "server/device/cpu_step.h"

namespace gpucall {
namespace {

cpu::Border BorderOf(BorderMode mode) {
  switch (mode) {
    case BorderMode::kNearest:
      return cpu::Border::kNearest;
    case BorderMode::kReflect:
      return cpu::Border::kReflect;
    case BorderMode::kMirror:
      return cpu::Border::kMirror;
    case BorderMode::kWrap:
      return cpu::Border::kWrap;
    case BorderMode::kConstant:
      break;
  }
  return cpu::Border::kConstant;
}

// The kernel's weights as they are applied.
std::vector<double> DenseWeights(const FilterStep& step, const CpuValues& values) {
  if (step.kernel == FilterStep::kNoKernel) return step.dense_weights;
  std::vector<double> weights(static_cast<size_t>(step.size[0] * step.size[1]));
  const DType dtype = values.type(step.kernel).dtype;
  cpu::FindConvertLoop(ElementTypeOf(dtype), cpu::ElementType::kFloat64)(
      values.data(step.kernel), weights.data(), weights.size());
  if (step.flip) std::reverse(weights.begin(), weights.end());
  return weights;
}

void FilterImage(const FilterStep& step, const std::vector<double>& weights,
                 const cpu::Image& image, const cpu::Output& output) {
  const cpu::Window window = {step.size[0],   step.size[1],        step.before[0],
                              step.before[1], BorderOf(step.mode), step.cval};
  switch (step.form) {
    case FilterStep::Form::kSeparable:
      cpu::SeparableFilter(image, window, step.row_weights, step.column_weights, output);
      break;
    case FilterStep::Form::kDense:
      cpu::DenseFilter(image, window, weights, output);
      break;
    case FilterStep::Form::kRank:
      cpu::RankFilter(image, window, step.rank, output);
      break;
    case FilterStep::Form::kMinimum:
      cpu::ExtremeFilter(image, window, cpu::Extreme::kMinimum, output);
      break;
    case FilterStep::Form::kMaximum:
      cpu::ExtremeFilter(image, window, cpu::Extreme::kMaximum, output);
      break;
  }
}

}  // namespace

absl::Status RunOnCpu(const FilterStep& step, const CpuValues& values, CpuMemory&) {
  const TensorType &in = values.type(step.image), &out = values.type(step.output);
  const int64_t count = in.count() / std::max<int64_t>(step.images, 1);  // of an image
  const std::vector<double> weights =
      step.form == FilterStep::Form::kDense ? DenseWeights(step, values) : std::vector<double>();
  for (int64_t i = 0; i < step.images; ++i) {
    const int64_t at = i * count;
    FilterImage(step, weights,
                {static_cast<const std::byte*>(values.data(step.image)) +
                     at * static_cast<int64_t>(ElementSize(in.dtype)),
                 ElementTypeOf(in.dtype), step.rows, step.columns, step.channels},
                {static_cast<std::byte*>(values.target(step.output)) +
                     at * static_cast<int64_t>(ElementSize(out.dtype)),
                 ElementTypeOf(out.dtype)});
  }
  return absl::OkStatus();
}

}  // namespace gpucall
