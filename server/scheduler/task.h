// One caller's work, and what it gets back.
#ifndef GPUCALL_SERVER_SCHEDULER_TASK_H_
#define GPUCALL_SERVER_SCHEDULER_TASK_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/device/device.h"
#include "server/program/plan.h"

namespace gpucall {

using SteadyTime = std::chrono::steady_clock::time_point;
using TaskId = uint64_t;

struct TaskResult {
  absl::Status status;
  // Empty unless OK. Host pieces that have no owner are valid only during the call of `done`.
  absl::Span<const Storage> outputs;
  absl::Duration queue_time;  // from Schedule to the start of the batch
  BatchTiming timing;
  int batch_size = 0;  // 0 where the task was not started
};

struct Task {
  TaskId id = 0;  // from BatchScheduler::NewTaskId
  Plan plan;
  std::vector<Storage> inputs;                // host bytes are the caller's, unchanged until `done`
  absl::InlinedVector<bool, 4> keep_outputs;  // as in Execution
  absl::InlinedVector<HostTarget, 1> targets;  // as in Execution
  SteadyTime deadline = SteadyTime::max();
  SteadyTime scheduled_at;  // set by the scheduler
  // Called exactly once, from any thread, never under a lock. Should be quick: a lane waits for it.
  std::function<void(const TaskResult&)> done;

  int64_t size_bytes() const { return plan.input_bytes + plan.output_bytes; }
  // Of size_bytes, what is in the server's host memory: not in buffers, nor in a client's memory.
  int64_t host_bytes() const {
    int64_t total = size_bytes();
    for (const Storage& input : inputs) {
      if (input.resident != nullptr || input.host.is_owned()) total -= input.size_bytes();
    }
    for (size_t i = 0; i < keep_outputs.size(); ++i) {
      if (keep_outputs[i]) total -= plan.values[plan.outputs[i]].size_bytes();
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].data != nullptr) total -= plan.values[plan.outputs[i]].size_bytes();
    }
    return total;
  }
};

// Tasks that run together: equal plan signatures.
using Batch = std::vector<std::unique_ptr<Task>>;

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SCHEDULER_TASK_H_
