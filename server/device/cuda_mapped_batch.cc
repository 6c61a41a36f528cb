#include "server/device/cuda_mapped_batch.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

namespace gpucall {
namespace {

// Owned elsewhere.
class MappedBuffer final : public DeviceBuffer {
 public:
  MappedBuffer(std::byte* data, int64_t size_bytes, std::shared_ptr<const void> owner)
      : DeviceBuffer(data, size_bytes), owner_(std::move(owner)) {}

 private:
  const std::shared_ptr<const void> owner_;
};

// How often steps use a value; more than once where it is not element by element.
struct Uses {
  int reads = 0;
  int writes = 0;
};

// By value, reshapes with what they are of; nothing where steps other than elementwise ones run.
std::vector<Uses> UsesOf(const Plan& plan) {
  std::vector<Uses> uses(plan.values.size());
  for (const Step& step : plan.steps) {
    const auto* elementwise = std::get_if<ElementwiseStep>(&step);
    if (elementwise == nullptr) return {};
    for (size_t i = 0; i < elementwise->inputs.size(); ++i) {
      const bool full = elementwise->broadcasts[i] == Broadcast::kFull;
      uses[plan.roots[elementwise->inputs[i]]].reads += full ? 1 : 2;
    }
    for (const auto& output : elementwise->outputs) ++uses[plan.roots[output.value]].writes;
  }
  return uses;
}

bool IsMapped(const Storage& storage) {
  if (storage.resident != nullptr || storage.host.pieces().size() != 1) return false;
  const HostBytes::Piece& piece = storage.host.pieces()[0];
  return piece.is_pinned && piece.size_bytes >= MappedBatch::kMinBytes &&
         reinterpret_cast<uintptr_t>(piece.data) % 16 == 0;
}

}  // namespace

MappedBatch::MappedBatch(absl::Span<Execution> batch)
    : batch_(batch), executions_(batch.begin(), batch.end()) {
  for (Execution& execution : executions_) {
    MapInputs(execution);
    MapTargets(execution);
  }
}

void MappedBatch::MapInputs(Execution& execution) {
  if (std::ranges::none_of(execution.inputs, IsMapped)) return;
  const std::vector<Uses> uses = UsesOf(*execution.plan);
  if (uses.empty()) return;
  std::vector<Storage>& inputs =
      inputs_.emplace_back(execution.inputs.begin(), execution.inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!IsMapped(inputs[i]) || uses[i].reads != 1) continue;
    const HostBytes::Piece& piece = inputs[i].host.pieces()[0];
    inputs[i].resident = std::make_shared<MappedBuffer>(const_cast<std::byte*>(piece.data),
                                                        piece.size_bytes, piece.owner);
  }
  execution.inputs = inputs;
}

void MappedBatch::MapTargets(Execution& execution) {
  const auto is_pinned = [](const HostTarget& target) { return target.is_pinned; };
  if (std::ranges::none_of(execution.targets, is_pinned)) return;
  const Plan& plan = *execution.plan;
  const std::vector<Uses> uses = UsesOf(plan);
  if (uses.empty()) return;
  auto& keep = keep_outputs_.emplace_back(plan.outputs.size(), false);
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    keep[i] = execution.keeps(i);
    const HostTarget* target = execution.target(i);
    const uint32_t root = plan.roots[plan.outputs[i]];
    const int64_t size_bytes = plan.values[root].size_bytes();
    if (target == nullptr || !target->is_pinned || size_bytes < kMinBytes || keep[i] ||
        root < plan.input_count || uses[root].reads > 0 || plan.OutputsOf(root) > 1) {
      continue;
    }
    keep[i] = true;
    execution.outputs[i].resident =
        std::make_shared<MappedBuffer>(target->data, size_bytes, target->owner);
  }
  execution.keep_outputs = keep;
}

void MappedBatch::Deliver() {
  for (size_t e = 0; e < batch_.size(); ++e) {
    const Execution& done = executions_[e];
    batch_[e].status = done.status;
    batch_[e].outputs = done.outputs;
    for (size_t i = 0; i < done.outputs.size(); ++i) {
      if (!done.keeps(i) || batch_[e].keeps(i)) continue;
      const HostTarget& target = *done.target(i);
      batch_[e].outputs[i] = {
          .host = HostBytes(target.data, done.outputs[i].size_bytes(), target.owner)};
    }
  }
}

}  // namespace gpucall
