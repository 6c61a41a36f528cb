#include "server/device/cuda_targets.h"

#include <algorithm>

namespace gpucall {

int64_t OutputBytes(const Execution& execution, size_t output) {
  return execution.plan->values[execution.plan->outputs[output]].size_bytes();
}

bool IsDirect(const Execution& execution, size_t output, size_t group, const BatchLayout& layout) {
  const Plan& plan = *execution.plan;
  const uint32_t root = plan.roots[plan.outputs[output]];
  const HostTarget* target = execution.target(output);
  return target != nullptr && target->is_pinned &&
         OutputBytes(execution, output) > Staging::kMaxPackedBytes && root >= plan.input_count &&
         layout.BufferOf(root, group) == nullptr && plan.OutputsOf(root) == 1;
}

std::vector<Staging::Target> DirectTargets(absl::Span<const Execution> batch,
                                           const BatchLayout& layout) {
  std::vector<Staging::Target> targets;
  for (size_t g = 0; g < layout.groups().size(); ++g) {
    const BatchLayout::Group& group = layout.groups()[g];
    for (size_t i = 0; i < group.members.size(); ++i) {
      const Execution& execution = batch[group.members[i]];
      for (size_t o = 0; o < group.plan->outputs.size(); ++o) {
        if (!IsDirect(execution, o, g, layout)) continue;
        const BatchLayout::Slots slots = layout.SlotsOf(group.plan->outputs[o], g);
        const int64_t offset = slots.offset + static_cast<int64_t>(i) * slots.stride;
        targets.push_back({offset - layout.download_offset(), OutputBytes(execution, o),
                           execution.target(o)->data});
      }
    }
  }
  return targets;
}

}  // namespace gpucall
