#include "server/service/kept_outputs.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "server/base/status_macros.h"
#include "server/store/held_buffer.h"

namespace gpucall {

absl::Status KeptOutputs::Reserve(TensorStore& store, const Caller& caller, const Task& task) {
  caller_ = caller;
  kept_.assign(task.keep_outputs.begin(), task.keep_outputs.end());
  charges_.resize(kept_.size());
  const auto root = [&](size_t output) { return task.plan.roots[task.plan.outputs[output]]; };
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (!kept_[i]) continue;
    const uint32_t value = root(i);
    bool counted = value < task.inputs.size() && IsHeld(task.inputs[value].resident);
    for (size_t j = 0; j < i; ++j) counted |= kept_[j] && root(j) == value;
    const int64_t size_bytes = counted ? 0 : task.plan.values[value].size_bytes();
    GPUCALL_ASSIGN_OR_RETURN(charges_[i], store.Reserve(caller, size_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> KeptOutputs::Keep(TensorStore& store, const Plan& plan,
                                                           const TaskResult& result) {
  std::vector<std::string> handles(result.outputs.size());
  if (!result.status.ok()) return handles;
  std::vector<Handle> added;
  absl::flat_hash_map<const DeviceBuffer*, BufferPointer> held;
  const auto now = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (!kept_[i]) continue;
    BufferPointer& buffer = held[result.outputs[i].resident.get()];
    if (buffer == nullptr) buffer = Hold(result.outputs[i].resident, std::move(charges_[i]));
    const absl::StatusOr<Handle> handle =
        store.Add(caller_, {plan.values[plan.outputs[i]], buffer}, now);
    if (!handle.ok()) {
      for (const Handle& other : added) static_cast<void>(store.Free(caller_.tenant, other));
      return handle.status();
    }
    added.push_back(*handle);
    handles[i] = handle->bytes();
  }
  return handles;
}

}  // namespace gpucall
