#include "server/device/cuda_layout.h"

#include <algorithm>
#include <variant>

#include "absl/container/flat_hash_map.h"

namespace gpucall {
namespace {

constexpr int64_t kValueAlignment = 256;  // of a value's first slot
constexpr int64_t kSlotAlignment = 16;    // of every slot: what 16-byte loads need
constexpr int64_t kIndexFaultBytes = 16;  // of a cuda::IndexFault

int64_t AlignUp(int64_t size, int64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

// Equal for plans with equal input shapes: ranks and sizes.
std::vector<int64_t> InputShapes(const Plan& plan) {
  std::vector<int64_t> shapes;
  for (uint32_t i = 0; i < plan.input_count; ++i) {
    const Shape& shape = plan.values[i].shape;
    shapes.push_back(static_cast<int64_t>(shape.size()));
    shapes.insert(shapes.end(), shape.begin(), shape.end());
  }
  return shapes;
}

// Calls visit(value, written) for every value that the step touches.
template <typename Visit>
void VisitValues(const ElementwiseStep& step, Visit visit) {
  for (const uint32_t value : step.inputs) visit(value, false);
  for (const auto& output : step.outputs) visit(output.value, true);
}
template <typename Visit>
void VisitValues(const MatMulStep& step, Visit visit) {
  visit(step.a, false);
  visit(step.b, false);
  if (step.c != MatMulStep::kNone) visit(step.c, false);
  if (step.bias != MatMulStep::kNone) visit(step.bias, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const FilterStep& step, Visit visit) {
  visit(step.image, false);
  if (step.kernel != FilterStep::kNoKernel) visit(step.kernel, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const ReduceStep& step, Visit visit) {
  visit(step.x, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const RearrangeStep& step, Visit visit) {
  for (const RearrangeStep::Part& part : step.parts) {
    if (part.input != RearrangeStep::kFill) visit(part.input, false);
  }
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const SortStep& step, Visit visit) {
  visit(step.x, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const CreationStep& step, Visit visit) {
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const ScanStep& step, Visit visit) {
  visit(step.x, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const TakeStep& step, Visit visit) {
  visit(step.x, false);
  visit(step.indices, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const ImageStep& step, Visit visit) {
  visit(step.x, false);
  if (step.second != ImageStep::kNone) visit(step.second, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const LineFilterStep& step, Visit visit) {
  visit(step.x, false);
  visit(step.output, true);
}
template <typename Visit>
void VisitValues(const WindowFilterStep& step, Visit visit) {
  visit(step.x, false);
  if (step.weights != WindowFilterStep::kNoWeights) visit(step.weights, false);
  visit(step.output, true);
}

template <typename Visit>
void VisitValues(const NetworkStep& step, Visit visit) {
  visit(step.x, false);
  if (step.weights != NetworkStep::kNone) visit(step.weights, false);
  if (step.bias != NetworkStep::kNone) visit(step.bias, false);
  visit(step.output, true);
}

template <typename Visit>
void VisitValues(const SignalStep& step, Visit visit) {
  visit(step.x, false);
  if (step.zi != SignalStep::kNone) visit(step.zi, false);
  if (step.output != SignalStep::kNone) visit(step.output, true);
  if (step.states != SignalStep::kNone) visit(step.states, true);
}

bool IsTake(const Step& step) { return std::holds_alternative<TakeStep>(step); }

bool MayFault(const Step& step) {
  if (IsTake(step)) return true;
  const auto* elementwise = std::get_if<ElementwiseStep>(&step);
  return elementwise != nullptr && elementwise->may_fault;
}

bool HasBuffers(const Execution& execution) {
  const auto has_buffer = [](const Storage& storage) { return storage.resident != nullptr; };
  return std::ranges::any_of(execution.inputs, has_buffer) ||
         std::ranges::any_of(execution.outputs, has_buffer);
}

}  // namespace

BatchLayout::BatchLayout(absl::Span<const Execution> batch) {
  FindGroups(batch);
  const Plan& plan = *batch[0].plan;
  FindBuffers(batch);
  FindRegions(plan);
  slots_.resize(regions_.size() * groups_.size());
  Place(Region::kUpload, upload_bytes_);
  Place(Region::kWork, work_bytes_);
  Place(Region::kDownload, faults_);
  if (std::any_of(plan.steps.begin(), plan.steps.end(), MayFault)) {
    faults_ = AlignUp(faults_, kIndexFaultBytes);
    fault_bytes_ = static_cast<int64_t>(batch.size() * sizeof(int32_t));
    if (std::any_of(plan.steps.begin(), plan.steps.end(), IsTake)) {
      index_faults_ = AlignUp(fault_bytes_, kIndexFaultBytes);
      fault_bytes_ = index_faults_ + static_cast<int64_t>(batch.size()) * kIndexFaultBytes;
    }
  }
}

void BatchLayout::FindGroups(absl::Span<const Execution> batch) {
  absl::flat_hash_map<std::vector<int64_t>, size_t> group_of;
  for (uint32_t i = 0; i < batch.size(); ++i) {
    const Plan* plan = batch[i].plan;
    if (HasBuffers(batch[i])) {
      groups_.push_back({plan, {i}});
      continue;
    }
    const auto [found, added] = group_of.try_emplace(InputShapes(*plan), groups_.size());
    if (added) groups_.push_back({plan, {}});
    groups_[found->second].members.push_back(i);
  }
}

void BatchLayout::FindBuffers(absl::Span<const Execution> batch) {
  buffers_.resize(groups_[0].plan->values.size() * groups_.size());
  for (size_t g = 0; g < groups_.size(); ++g) {
    const Execution& first = batch[groups_[g].members[0]];
    const auto set = [&](uint32_t value, const Storage& storage) {
      if (storage.resident) buffers_[value * groups_.size() + g] = storage.resident.get();
    };
    for (uint32_t i = 0; i < first.inputs.size(); ++i) set(i, first.inputs[i]);
    for (size_t i = 0; i < first.outputs.size(); ++i) {
      const uint32_t value = first.plan->roots[first.plan->outputs[i]];
      if (value >= first.plan->input_count) set(value, first.outputs[i]);
    }
  }
}

void BatchLayout::FindRegions(const Plan& plan) {
  regions_.resize(plan.values.size(), Region::kNone);
  for (const Step& step : plan.steps) {
    const auto mark = [&](uint32_t alias, bool written) {
      const uint32_t value = plan.roots[alias];
      if (regions_[value] != Region::kNone) return;
      regions_[value] = written ? Region::kWork : Region::kUpload;
    };
    std::visit([&](const auto& s) { VisitValues(s, mark); }, step);
  }
  for (const uint32_t output : plan.outputs) {
    const uint32_t value = plan.roots[output];
    if (regions_[value] == Region::kWork) regions_[value] = Region::kDownload;
  }
}

void BatchLayout::Place(Region region, int64_t& size_bytes) {
  for (size_t value = 0; value < regions_.size(); ++value) {
    if (regions_[value] != region) continue;
    size_bytes = AlignUp(size_bytes, kValueAlignment);
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (BufferOf(static_cast<uint32_t>(value), g) != nullptr) continue;
      const int64_t stride = AlignUp(groups_[g].plan->values[value].size_bytes(), kSlotAlignment);
      slots_[value * groups_.size() + g] = {.offset = size_bytes, .stride = stride};
      size_bytes += stride * static_cast<int64_t>(groups_[g].members.size());
    }
  }
}

BatchLayout::Slots BatchLayout::SlotsOf(uint32_t alias, size_t group) const {
  const uint32_t value = groups_[group].plan->roots[alias];
  if (const DeviceBuffer* buffer = BufferOf(value, group)) {
    return {.offset = static_cast<int64_t>(reinterpret_cast<intptr_t>(buffer->data()) -
                                           reinterpret_cast<intptr_t>(memory_)),
            .stride = 0};
  }
  Slots slots = slots_[value * groups_.size() + group];
  slots.offset += OffsetOf(regions_[value]);
  return slots;
}

int64_t BatchLayout::ReserveTable(int64_t size_bytes) {
  const int64_t offset = AlignUp(upload_bytes_, kSlotAlignment);
  upload_bytes_ = offset + size_bytes;
  return offset;
}

int64_t BatchLayout::OffsetOf(Region region) const {
  switch (region) {
    case Region::kNone:
    case Region::kUpload:
      return 0;
    case Region::kWork:
      return AlignUp(upload_bytes_, kValueAlignment);
    case Region::kDownload:
      return download_offset();
  }
  return 0;
}

int64_t BatchLayout::scratch_offset() const {
  return AlignUp(OffsetOf(Region::kWork) + work_bytes_, kValueAlignment);
}

int64_t BatchLayout::download_offset() const {
  return AlignUp(scratch_offset() + scratch_bytes_, kValueAlignment);
}

}  // namespace gpucall
