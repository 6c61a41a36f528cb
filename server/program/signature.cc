#include "server/program/signature.h"

#include <bit>
#include <type_traits>
#include <utility>

namespace gpucall {
namespace {

// Bytes that tell plans apart which may not share a batch.
class Signature {
 public:
  template <typename T>
  void Add(const T& field) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&field), sizeof(field));
  }
  void Add(double field) { Add(std::bit_cast<uint64_t>(field)); }
  template <typename List>
  void AddList(const List& list) {
    Add(list.size());
    for (const auto& element : list) Add(element);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void AddStep(const ElementwiseStep& step, const Plan& plan, Signature& signature) {
  signature.AddList(step.inputs);
  signature.AddList(step.broadcasts);
  for (uint32_t value : step.inputs) signature.Add(plan.values[value].dtype);
  signature.Add(step.instructions.size());
  for (const auto& instruction : step.instructions) {
    signature.Add(instruction.op);
    signature.Add(instruction.computed_in);
    signature.Add(instruction.result);
    signature.Add(instruction.operands);
  }
  signature.Add(step.outputs.size());
  for (const auto& output : step.outputs) {
    signature.Add(output.value);
    signature.Add(output.register_index);
  }
}

void AddStep(const MatMulStep& step, const Plan& plan, Signature& signature) {
  const MatMulAttributes& attributes = step.attributes;
  for (uint32_t value : {step.a, step.b, step.c, step.bias, step.output}) signature.Add(value);
  signature.Add(attributes.transpose_a);
  signature.Add(attributes.transpose_b);
  signature.Add(attributes.precision);
  signature.Add(attributes.alpha);
  signature.Add(attributes.beta);
  signature.Add(attributes.activation);
  for (uint32_t value : {step.a, step.b, step.output}) signature.Add(plan.values[value].dtype);
}

void AddStep(const FilterStep& step, const Plan& plan, Signature& signature) {
  for (uint32_t value : {step.image, step.output, step.kernel}) signature.Add(value);
  signature.Add(step.form);
  signature.Add(step.mode);
  signature.Add(step.cval);
  signature.Add(step.size);
  signature.Add(step.before);
  signature.Add(step.flip);
  signature.Add(step.rank);
  signature.Add(step.channels);
  signature.Add(plan.values[step.image].dtype);
  signature.Add(plan.values[step.output].dtype);
  if (step.kernel != FilterStep::kNoKernel) signature.Add(plan.values[step.kernel].dtype);
  signature.AddList(step.row_weights);
  signature.AddList(step.column_weights);
  signature.AddList(step.dense_weights);
}

void AddStep(const ReduceStep& step, const Plan& plan, Signature& signature) {
  signature.Add(step.x);
  signature.Add(step.output);
  signature.Add(step.op);
  signature.Add(step.parameter);
  signature.Add(step.along);
  signature.Add(plan.values[step.x].shape.size());
  signature.Add(plan.values[step.output].shape.size());
  signature.Add(plan.values[step.x].dtype);
}

void AddStep(const RearrangeStep& step, const Plan& plan, Signature& signature) {
  signature.Add(step.output);
  signature.AddList(step.attributes);
  signature.Add(plan.values[step.output].dtype);
}

void AddStep(const SortStep& step, const Plan& plan, Signature& signature) {
  signature.Add(step.x);
  signature.Add(step.output);
  signature.Add(step.descending);
  signature.Add(step.gives_indices);
  signature.AddList(step.attributes);
  signature.Add(plan.values[step.x].dtype);
}

void AddStep(const ScanStep& step, const Plan& plan, Signature& signature) {
  signature.Add(step.x);
  signature.Add(step.output);
  signature.Add(step.op);
  signature.Add(step.axis.has_value());
  signature.Add(step.axis.value_or(0));
  signature.Add(plan.values[step.x].dtype);
}

// With the shape too, which does not follow from those of inputs.
void AddStep(const CreationStep& step, const Plan& plan, Signature& signature) {
  signature.Add(step.output);
  signature.Add(plan.values[step.output].dtype);
  signature.AddList(plan.values[step.output].shape);
  signature.Add(step.kind);
  signature.Add(step.bits);
  for (const double number : {step.first, step.second, step.step}) signature.Add(number);
  for (const int64_t number : {step.integer_first, step.integer_step}) signature.Add(number);
  for (const uint64_t number : {step.range, step.seed}) signature.Add(number);
}

void AddStep(const TakeStep& step, const Plan& plan, Signature& signature) {
  for (uint32_t value : {step.x, step.indices, step.output}) signature.Add(value);
  signature.Add(step.axis.has_value());
  signature.Add(step.axis.value_or(0));
  signature.Add(step.along);
  signature.Add(plan.values[step.x].dtype);
  signature.Add(plan.values[step.indices].dtype);
}

void AddStep(const ImageStep& step, const Plan& plan, Signature& signature) {
  for (uint32_t value : {step.x, step.second, step.output}) signature.Add(value);
  signature.Add(step.form);
  signature.AddList(step.attributes);
  signature.Add(plan.values[step.x].dtype);
}

void AddStep(const LineFilterStep& step, const Plan& plan, Signature& signature) {
  const LineFilterAttributes& line = step.attributes;
  signature.Add(step.x);
  signature.Add(step.output);
  signature.Add(line.op);
  for (const int64_t field : {line.axis, line.size, line.before}) signature.Add(field);
  signature.AddList(line.weights);
  signature.Add(line.divisor);
  signature.Add(line.mode);
  signature.Add(line.cval);
  signature.Add(plan.values[step.x].dtype);
  signature.Add(plan.values[step.output].dtype);
}

void AddStep(const WindowFilterStep& step, const Plan& plan, Signature& signature) {
  const WindowFilterAttributes& window = step.attributes;
  for (uint32_t value : {step.x, step.output, step.weights}) signature.Add(value);
  signature.Add(window.form);
  signature.Add(plan.values[step.x].shape.size());
  signature.AddList(window.axes);
  signature.AddList(window.size);
  signature.AddList(window.before);
  signature.AddList(window.modes);
  signature.AddList(window.footprint);
  signature.Add(window.rank);
  signature.Add(window.flip);
  signature.Add(window.cval);
  signature.Add(plan.values[step.x].dtype);
  signature.Add(plan.values[step.output].dtype);
}

void AddStep(const NetworkStep& step, const Plan& plan, Signature& signature) {
  for (uint32_t value : {step.x, step.weights, step.bias, step.output}) signature.Add(value);
  signature.Add(step.kind);
  signature.Add(step.layout);
  signature.Add(step.groups);
  for (const auto& pair : {step.size, step.stride, step.dilation, step.before, step.after}) {
    signature.Add(pair);
  }
  signature.Add(step.count_padding);
  signature.Add(plan.values[step.x].dtype);
}

void AddStep(const SignalStep& step, const Plan& plan, Signature& signature) {
  for (uint32_t value : {step.x, step.zi, step.output, step.states}) signature.Add(value);
  for (const int64_t field : {step.sections, step.order, step.axis}) signature.Add(field);
  signature.AddList(step.b);
  signature.AddList(step.a);
  signature.Add(plan.values[step.x].dtype);
}

}  // namespace

std::string MakeSignature(const Plan& plan) {
  Signature signature;
  signature.Add(plan.input_count);
  signature.AddList(plan.outputs);
  signature.AddList(plan.roots);
  for (const Step& step : plan.steps) {
    signature.Add(step.index());
    std::visit([&](const auto& s) { AddStep(s, plan, signature); }, step);
  }
  return signature.Take();
}

}  // namespace gpucall
