#include "server/service/stream_blocks.h"

#include <algorithm>
#include <variant>

#include "server/base/status_macros.h"

namespace gpucall {
namespace {

// The one step whose elements depend on no others; null where there is another kind of work.
const ElementwiseStep* DivisibleStep(const Program& program, const Plan& plan) {
  if (plan.steps.size() != 1) return nullptr;
  // Also of operations that are no step of their own, as reshapes: attributes may be of the shape.
  for (const Operation& operation : program.operations) {
    if (!std::holds_alternative<ElementwiseOp>(operation.attributes) &&
        !std::holds_alternative<CastAttributes>(operation.attributes)) {
      return nullptr;
    }
  }
  const auto* step = std::get_if<ElementwiseStep>(&plan.steps[0]);
  if (step == nullptr || step->may_fault) return nullptr;
  for (uint32_t value = 0; value < plan.input_count; ++value) {
    const TensorType& type = plan.values[value];
    if (type.count() != 1 && type.shape != step->shape) return nullptr;
  }
  for (const uint32_t value : plan.outputs) {
    if (value < plan.input_count || plan.values[value].shape != step->shape) return nullptr;
  }
  return step;
}

}  // namespace

absl::StatusOr<StreamBlocks> StreamBlocks::Make(const DecodedCall& call, int64_t max_tensor_bytes) {
  StreamBlocks blocks;
  blocks.program_ = call.program;
  blocks.types_ = call.types;
  blocks.max_tensor_bytes_ = max_tensor_bytes;
  GPUCALL_ASSIGN_OR_RETURN(blocks.whole_, MakePlan(call.program, call.types, max_tensor_bytes));
  const Plan& plan = blocks.whole_;
  const ElementwiseStep* step = DivisibleStep(call.program, plan);
  if (step == nullptr || !call.keep_outputs.empty()) return blocks;
  size_t widest = 1;
  for (uint32_t value = 0; value < plan.input_count; ++value) {
    widest = std::max(widest, ElementSize(plan.values[value].dtype));
  }
  for (const uint32_t value : plan.outputs) {
    widest = std::max(widest, ElementSize(plan.values[value].dtype));
  }
  blocks.element_count_ = ElementCount(step->shape);
  blocks.block_elements_ = kBlockBytes / static_cast<int64_t>(widest);
  blocks.count_ = std::max<int64_t>(
      1, (blocks.element_count_ + blocks.block_elements_ - 1) / blocks.block_elements_);
  return blocks;
}

int64_t StreamBlocks::ElementsOf(int64_t block) const {
  return std::min(block_elements_, element_count_ - block * block_elements_);
}

absl::StatusOr<Plan> StreamBlocks::PlanOf(int64_t block) const {
  if (!is_divided()) return whole_;
  std::vector<TensorType> types = types_;
  for (TensorType& type : types) {
    type.shape = type.count() == 1 ? Shape() : Shape{ElementsOf(block)};
  }
  return MakePlan(program_, types, max_tensor_bytes_);
}

StreamBlocks::Range StreamBlocks::RangeOf(const TensorType& type, int64_t block) const {
  if (!is_divided() || type.count() == 1) return {0, type.size_bytes()};
  const auto element_size = static_cast<int64_t>(ElementSize(type.dtype));
  return {block * block_elements_ * element_size, ElementsOf(block) * element_size};
}

}  // namespace gpucall
