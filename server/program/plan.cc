#include "server/program/plan.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/composite.h"
#include "server/program/filter_nd.h"
#include "server/program/fusion.h"
#include "server/program/image_composite.h"
#include "server/program/inference.h"
#include "server/program/signal_composite.h"
#include "server/program/signature.h"

namespace gpucall {
namespace {

constexpr int64_t kMaxTotalFactor = 64;

absl::Status CheckLimits(const Program& program) {
  if (program.operations.size() > kMaxOperations) {
    return absl::InvalidArgumentError(absl::StrCat("program: has ", program.operations.size(),
                                                   " operations, allowed are ", kMaxOperations));
  }
  for (const auto& [what, count] : {std::pair("inputs", size_t{program.input_count}),
                                    std::pair("outputs", program.outputs.size())}) {
    if (count > kMaxProgramValues) {
      return absl::InvalidArgumentError(
          absl::StrCat("program: has ", count, " ", what, ", allowed are ", kMaxProgramValues));
    }
  }
  if (program.outputs.empty())
    return absl::InvalidArgumentError("program: has no operations and no outputs");
  const size_t value_count = program.input_count + program.operations.size();
  for (uint32_t value : program.outputs) {
    if (value >= value_count) {
      return absl::InvalidArgumentError(absl::StrCat("program: output refers to value ", value,
                                                     ", which does not exist; there are ",
                                                     value_count, " values"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSize(absl::string_view what, const TensorType& type, int64_t max_tensor_bytes,
                       int64_t& total) {
  GPUCALL_ASSIGN_OR_RETURN(const int64_t size_bytes,
                           CheckedSizeBytes(what, type.dtype, type.shape));
  if (size_bytes > max_tensor_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": result of shape ",
                                                     ShapeString(type.shape), " is ", size_bytes,
                                                     " bytes, allowed are ", max_tensor_bytes));
  }
  total += size_bytes;
  if (total > kMaxTotalFactor * max_tensor_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("program: inputs and results together are over ",
                     kMaxTotalFactor * max_tensor_bytes, " bytes"));
  }
  return absl::OkStatus();
}

// The status with the operation's place in a Program of several.
absl::Status AtOperation(const Program& program, size_t k, const absl::Status& status) {
  if (program.operations.size() == 1) return status;
  return absl::Status(status.code(), absl::StrCat("operation ", k, ": ", status.message()));
}

absl::StatusOr<TensorType> Infer(const Operation& operation, absl::Span<const TensorType> values) {
  absl::InlinedVector<const TensorType*, 3> operands;
  for (uint32_t value : operation.inputs) operands.push_back(&values[value]);
  return InferType(operation, operands);
}

// The operations that together are `operation`, which is checked.
std::vector<Operation> PartsOf(const Operation& operation, absl::Span<const TensorType> values) {
  const auto next = static_cast<uint32_t>(values.size());
  if (std::holds_alternative<ImageAttributes>(operation.attributes)) {
    return ExpandImage(operation, values[operation.inputs[0]], next);
  }
  if (std::holds_alternative<SignalAttributes>(operation.attributes)) {
    return ExpandSignal(operation, values, next);
  }
  absl::InlinedVector<DType, 3> operands;
  for (const uint32_t value : operation.inputs) operands.push_back(values[value].dtype);
  if (operands.empty()) return Expand(operation, operands, next);
  const auto filter = AsNdFilter(operation, operands[0]);
  if (!filter.has_value()) return Expand(operation, operands, next);
  const TensorType* kernel = operands.size() == 2 ? &values[operation.inputs[1]] : nullptr;
  const auto checked = CheckNdFilter(*filter, values[operation.inputs[0]], kernel);
  return ExpandNdFilter(*checked, operation.inputs, operands.back(), next);
}

// Checks the next operation of the caller's Program, and adds to `expanded` what it is made of and
// to `plan` the values. `places`: of the values made before; gets the operation's.
absl::Status AddOperation(Operation operation, std::vector<uint32_t>& places,
                          int64_t max_tensor_bytes, Program& expanded, Plan& plan) {
  for (uint32_t& value : operation.inputs) {
    if (value >= places.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input refers to value ", value, ", allowed are the ", places.size(), " made before"));
    }
    value = places[value];
  }
  GPUCALL_RETURN_IF_ERROR(Infer(operation, plan.values).status());
  for (Operation& part : PartsOf(operation, plan.values)) {
    GPUCALL_ASSIGN_OR_RETURN(TensorType type, Infer(part, plan.values));
    GPUCALL_RETURN_IF_ERROR(CheckSize("output", type, max_tensor_bytes, plan.total_bytes));
    plan.values.push_back(std::move(type));
    expanded.operations.push_back(std::move(part));
  }
  places.push_back(static_cast<uint32_t>(plan.values.size()) - 1);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const Program& program, absl::Span<const TensorType> inputs,
                              int64_t max_tensor_bytes) {
  GPUCALL_RETURN_IF_ERROR(CheckLimits(program));
  Plan plan;
  plan.input_count = program.input_count;
  plan.outputs = program.outputs;
  plan.values.assign(inputs.begin(), inputs.end());
  for (const TensorType& input : inputs) {
    GPUCALL_RETURN_IF_ERROR(CheckSize("input", input, max_tensor_bytes, plan.total_bytes));
  }
  plan.input_bytes = plan.total_bytes;
  Program expanded = {.input_count = program.input_count, .operations = {}, .outputs = {}};
  std::vector<uint32_t> places(program.input_count);  // of the caller's values in `expanded`
  std::iota(places.begin(), places.end(), 0);
  for (size_t k = 0; k < program.operations.size(); ++k) {
    GPUCALL_RETURN_IF_ERROR(AtOperation(
        program, k, AddOperation(program.operations[k], places, max_tensor_bytes, expanded, plan)));
  }
  for (uint32_t& value : plan.outputs) value = places[value];
  expanded.outputs = plan.outputs;
  plan.roots = RootsOf(expanded);
  plan.steps = MakeSteps(expanded, plan.values, plan.roots);
  for (uint32_t value : plan.outputs) plan.output_bytes += plan.values[value].size_bytes();
  plan.signature = MakeSignature(plan);
  return plan;
}

}  // namespace gpucall
