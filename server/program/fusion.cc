#include "server/program/fusion.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/program/catalogue.h"
#include "server/program/lower_operation.h"
#include "server/program/rearrange_axes.h"
#include "server/program/signal.h"

namespace gpucall {
namespace {

// The elementwise operation that `operation` is, if it is one.
std::optional<ElementwiseOp> ElementwiseOpOf(const Operation& operation) {
  if (std::holds_alternative<CastAttributes>(operation.attributes)) return ElementwiseOp::kCast;
  const auto* op = std::get_if<ElementwiseOp>(&operation.attributes);
  return op != nullptr ? std::optional(*op) : std::nullopt;
}

// A step in the making: the operations, by index in the Program, that it runs.
struct Group {
  bool elementwise;
  std::vector<uint32_t> operations;
  std::vector<uint32_t> inputs;  // of elementwise groups
};

class StepMaker {
 public:
  StepMaker(const Program& program, absl::Span<const TensorType> values,
            absl::Span<const uint32_t> roots)
      : program_(program),
        values_(values),
        roots_(roots),
        group_of_(values.size(), -1),
        used_outside_(values.size(), false) {}

  std::vector<Step> Make() {
    const std::vector<bool> needed = NeededOperations();
    for (uint32_t k = 0; k < program_.operations.size(); ++k) {
      if (needed[k] && roots_[ValueOf(k)] == ValueOf(k)) Place(k);
    }
    MarkUsedOutside();
    std::vector<Step> steps;
    for (const Group& group : groups_) {
      Step step = MakeStep(group);
      const auto* const signal = std::get_if<SignalStep>(&step);
      if (signal != nullptr && JoinSignal(*signal, steps)) continue;
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  uint32_t ValueOf(uint32_t operation) const { return program_.input_count + operation; }
  const Operation& OperationAt(uint32_t k) const { return program_.operations[k]; }
  const Shape& ShapeOf(uint32_t operation) const { return values_[ValueOf(operation)].shape; }

  std::vector<bool> NeededOperations() const {
    std::vector<bool> needed(program_.operations.size(), false);
    const auto need = [&](uint32_t value) {
      if (value >= program_.input_count) needed[value - program_.input_count] = true;
    };
    for (uint32_t value : program_.outputs) need(value);
    for (size_t k = program_.operations.size(); k-- > 0;) {
      if (!needed[k]) continue;
      for (uint32_t value : program_.operations[k].inputs) need(value);
    }
    return needed;
  }

  // Puts operation k into the first elementwise group of its shape that is not before any group it
  // reads from, or into a new group at the end.
  void Place(uint32_t k) {
    const Operation& operation = OperationAt(k);
    const bool elementwise = ElementwiseOpOf(operation).has_value();
    int earliest = -1;
    for (uint32_t value : operation.inputs) {
      const uint32_t root = roots_[value];
      // Of another shape than the group has it in: from memory, after the group.
      const int after = root != value && group_of_[root] >= 0 ? 1 : 0;
      earliest = std::max(earliest, group_of_[root] + after);
    }
    int chosen = -1;
    for (int g = std::max(earliest, 0);
         elementwise && chosen < 0 && g < static_cast<int>(groups_.size()); ++g) {
      if (Joins(k, groups_[g], g)) chosen = g;
    }
    if (chosen < 0) {
      chosen = static_cast<int>(groups_.size());
      groups_.push_back({elementwise, {}, {}});
    }
    for (uint32_t value : NewInputs(k, groups_[chosen], chosen))
      groups_[chosen].inputs.push_back(value);
    groups_[chosen].operations.push_back(k);
    group_of_[ValueOf(k)] = chosen;
  }

  bool Joins(uint32_t k, const Group& group, int g) const {
    return group.elementwise && group.operations.size() < ElementwiseStep::kMaxInstructions &&
           ShapeOf(group.operations.front()) == ShapeOf(k) &&
           group.inputs.size() + NewInputs(k, group, g).size() <= ElementwiseStep::kMaxInputs;
  }

  absl::InlinedVector<uint32_t, 3> NewInputs(uint32_t k, const Group& group, int g) const {
    absl::InlinedVector<uint32_t, 3> result;
    const auto has = [](const auto& list, uint32_t value) {
      return std::find(list.begin(), list.end(), value) != list.end();
    };
    for (uint32_t value : OperationAt(k).inputs) {
      if (group_of_[value] != g && !has(group.inputs, value) && !has(result, value))
        result.push_back(value);
    }
    return result;
  }

  void MarkUsedOutside() {
    for (uint32_t value : program_.outputs) used_outside_[roots_[value]] = true;
    for (const Group& group : groups_) {
      const int g = static_cast<int>(&group - groups_.data());
      for (uint32_t k : group.operations) {
        for (uint32_t value : OperationAt(k).inputs) {
          if (group_of_[value] != g) used_outside_[roots_[value]] = true;
        }
      }
    }
  }

  Step MakeStep(const Group& group) const {
    if (group.elementwise) return MakeElementwise(group);
    const uint32_t k = group.operations.front();
    return LowerOperation(OperationAt(k), values_, ValueOf(k));
  }

  Broadcast BroadcastOf(uint32_t value, const Shape& shape) const {
    const int64_t count = values_[value].count();
    if (count == ElementCount(shape)) return Broadcast::kFull;
    return count == 1 ? Broadcast::kScalar : Broadcast::kStrided;
  }

  // But for the operands' registers.
  ElementwiseStep::Instruction InstructionOf(uint32_t k) const {
    absl::InlinedVector<DType, 3> operands;
    for (uint32_t value : OperationAt(k).inputs) operands.push_back(values_[value].dtype);
    const ElementwiseOp op = *ElementwiseOpOf(OperationAt(k));
    const DType result = values_[ValueOf(k)].dtype;
    // The Program is checked: there is an answer.
    return {op, InferElementwise(op, operands, result)->computed_in, result, {}};
  }

  ElementwiseStep MakeElementwise(const Group& group) const {
    ElementwiseStep step;
    step.shape = ShapeOf(group.operations.front());
    step.inputs = group.inputs;
    absl::flat_hash_map<uint32_t, uint16_t> registers;
    for (uint32_t value : step.inputs) {
      registers[value] = static_cast<uint16_t>(registers.size());
      step.broadcasts.push_back(BroadcastOf(value, step.shape));
    }
    for (uint32_t k : group.operations) {
      const uint32_t value = ValueOf(k);
      ElementwiseStep::Instruction instruction = InstructionOf(k);
      for (size_t i = 0; i < OperationAt(k).inputs.size(); ++i)
        instruction.operands[i] = registers.at(OperationAt(k).inputs[i]);
      registers[value] = static_cast<uint16_t>(step.inputs.size() + step.instructions.size());
      step.may_fault |= MayFault(instruction.op, instruction.computed_in);
      if (used_outside_[value]) step.outputs.push_back({value, registers[value]});
      step.instructions.push_back(instruction);
    }
    return step;
  }

  const Program& program_;
  const absl::Span<const TensorType> values_;
  const absl::Span<const uint32_t> roots_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;       // by value; -1: a Program input, or not computed
  std::vector<bool> used_outside_;  // by value: read by another group, or a Program output
};

}  // namespace

std::vector<Step> MakeSteps(const Program& program, absl::Span<const TensorType> values,
                            absl::Span<const uint32_t> roots) {
  return StepMaker(program, values, roots).Make();
}

std::vector<uint32_t> RootsOf(const Program& program) {
  std::vector<uint32_t> roots(program.input_count + program.operations.size());
  std::iota(roots.begin(), roots.end(), 0u);
  for (size_t k = 0; k < program.operations.size(); ++k) {
    const Operation& operation = program.operations[k];
    const auto* rearrange = std::get_if<RearrangeAttributes>(&operation.attributes);
    if (rearrange != nullptr && IsReshape(rearrange->kind)) {
      roots[program.input_count + k] = roots[operation.inputs[0]];
    }
  }
  return roots;
}

}  // namespace gpucall
