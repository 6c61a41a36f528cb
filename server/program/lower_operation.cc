#include "server/program/lower_operation.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/program/axes.h"
#include "server/program/creation.h"
#include "server/program/filter.h"
#include "server/program/image.h"
#include "server/program/image_tables.h"
#include "server/program/matmul.h"
#include "server/program/network.h"
#include "server/program/rearrange.h"
#include "server/program/reduce.h"
#include "server/program/scan.h"
#include "server/program/signal.h"
#include "server/program/sort.h"
#include "server/program/take.h"

namespace gpucall {
namespace {

// The types of an operation's inputs, and their values.
struct Inputs {
  std::vector<const TensorType*> types;
  absl::Span<const uint32_t> values;
};

// One function for each kind of attributes. Steps but for their outputs.
MatMulStep Lower(const MatMulAttributes& attributes, const Inputs& inputs) {
  MatMulStep step = LowerMatMul(attributes, inputs.types)->step;
  step.a = inputs.values[0];
  step.b = inputs.values[1];
  if (step.c != MatMulStep::kNone) step.c = inputs.values[step.c];
  if (step.bias != MatMulStep::kNone) step.bias = inputs.values[step.bias];
  return step;
}

FilterStep Lower(const FilterAttributes& attributes, const Inputs& inputs) {
  const TensorType* const kernel = inputs.types.size() == 2 ? inputs.types[1] : nullptr;
  FilterStep step = LowerFilter(attributes, *inputs.types[0], kernel)->step;
  step.image = inputs.values[0];
  if (kernel != nullptr) step.kernel = inputs.values[1];
  return step;
}

LineFilterStep Lower(const LineFilterAttributes& attributes, const Inputs& inputs) {
  const auto lines = LinesAt("filter", inputs.types[0]->shape, attributes.axis);  // it has the axis
  return {inputs.values[0], 0, attributes, *lines};
}

WindowFilterStep Lower(const WindowFilterAttributes& attributes, const Inputs& inputs) {
  WindowFilterStep step = {.x = inputs.values[0], .output = 0, .attributes = attributes};
  if (inputs.values.size() == 2) step.weights = inputs.values[1];
  return step;
}

ReduceStep Lower(const ReduceAttributes& attributes, const Inputs& inputs) {
  ReduceStep step = LowerReduce(attributes, *inputs.types[0])->step;
  step.x = inputs.values[0];
  return step;
}

RearrangeStep Lower(const RearrangeAttributes& attributes, const Inputs& inputs) {
  RearrangeStep step = LowerRearrange(attributes, inputs.types)->step;
  for (RearrangeStep::Part& part : step.parts) {
    if (part.input != RearrangeStep::kFill) part.input = inputs.values[part.input];
  }
  for (const uint32_t value : inputs.values) step.attributes += absl::StrCat(" ", value);
  return step;
}

SortStep Lower(const SortAttributes& attributes, const Inputs& inputs) {
  SortStep step = LowerSort(attributes, *inputs.types[0])->step;
  step.x = inputs.values[0];
  return step;
}

ScanStep Lower(const ScanAttributes& attributes, const Inputs& inputs) {
  ScanStep step = LowerScan(attributes, *inputs.types[0])->step;
  step.x = inputs.values[0];
  return step;
}

TakeStep Lower(const TakeAttributes& attributes, const Inputs& inputs) {
  TakeStep step = LowerTake(attributes, *inputs.types[0], *inputs.types[1])->step;
  step.x = inputs.values[0];
  step.indices = inputs.values[1];
  return step;
}

ImageStep Lower(const ImageAttributes& attributes, const Inputs& inputs) {
  ImageStep step = LowerImage(attributes, inputs.types)->step;
  step.attributes = TextOf(attributes);
  step.table = ImageTable(attributes, step, inputs.types[0]->dtype);
  step.x = inputs.values[0];
  if (inputs.values.size() == 2) step.second = inputs.values[1];
  return step;
}

NetworkStep Lower(const NetworkAttributes& attributes, const Inputs& inputs) {
  NetworkStep step = LowerNetwork(attributes, inputs.types)->step;
  step.x = inputs.values[0];
  if (inputs.values.size() > 1) step.weights = inputs.values[1];
  if (inputs.values.size() > 2) step.bias = inputs.values[2];
  return step;
}

SignalStep Lower(const SignalAttributes& attributes, const Inputs& inputs, uint32_t output) {
  SignalStep step = LowerSignal(attributes, inputs.types)->step;
  step.x = inputs.values[0];
  if (inputs.values.size() > 1) step.zi = inputs.values[1];
  (attributes.final_state ? step.states : step.output) = output;
  return step;
}

struct Lowering {
  const Inputs& inputs;
  const uint32_t output;

  Step operator()(const CreationAttributes& attributes) const {
    return LowerCreation(attributes, output);  // of several kinds
  }
  Step operator()(const SignalAttributes& attributes) const {
    return Lower(attributes, inputs, output);
  }
  Step operator()(const auto& attributes) const {
    auto step = Lower(attributes, inputs);
    step.output = output;
    return step;
  }
  // Fused, or expanded.
  Step operator()(const ElementwiseOp&) const { std::abort(); }
  Step operator()(const CastAttributes&) const { std::abort(); }
  Step operator()(const NdFilterAttributes&) const { std::abort(); }
};

}  // namespace

Step LowerOperation(const Operation& operation, absl::Span<const TensorType> values,
                    uint32_t output) {
  Inputs inputs = {.types = {}, .values = operation.inputs};
  for (const uint32_t value : operation.inputs) inputs.types.push_back(&values[value]);
  return std::visit(Lowering{inputs, output}, operation.attributes);
}

}  // namespace gpucall
