// Decides which tasks run next, together. Pure rules: no clock, no thread, no lock; time is an
// argument.
#ifndef GPUCALL_SERVER_SCHEDULER_BATCH_QUEUE_H_
#define GPUCALL_SERVER_SCHEDULER_BATCH_QUEUE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/scheduler/task.h"

namespace gpucall {

// A batch is the oldest task and those after it with its plan signature, up to the limits; always
// at least one task.
class BatchQueue {
 public:
  struct Limits {
    size_t max_batch_tasks = 64;
    int64_t max_batch_bytes = int64_t{16} << 20;
    size_t max_queue_tasks = 4096;
    int64_t max_queue_bytes = int64_t{2} << 30;
  };

  explicit BatchQueue(const Limits& limits) : limits_(limits) {}

  // Takes `task` where OK. UNAVAILABLE: full; `task` stays with the caller. REQUIRES: no task with
  // its id is queued.
  absl::Status Add(std::unique_ptr<Task>& task);

  // The next batch; empty where nothing is queued. Tasks whose deadline is at or before `now` are
  // not in it: TakeExpired returns them.
  Batch Take(SteadyTime now);

  // Removes and returns tasks whose deadline is at or before `now`.
  Batch TakeExpired(SteadyTime now);

  // Removes and returns a task; null where it is not queued.
  std::unique_ptr<Task> Remove(TaskId id);

  // Removes and returns all.
  Batch TakeAll();

  // SteadyTime::max() where no task has a deadline.
  SteadyTime earliest_deadline() const;
  size_t size() const { return order_.size(); }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  std::unique_ptr<Task> TakeAt(uint64_t sequence);

  const Limits limits_;
  uint64_t next_sequence_ = 0;
  int64_t size_bytes_ = 0;
  std::map<uint64_t, std::unique_ptr<Task>> order_;  // by sequence: first come, first served
  absl::flat_hash_map<std::string, std::set<uint64_t>> by_signature_;
  std::set<std::pair<SteadyTime, uint64_t>> by_deadline_;  // of tasks that have one
  absl::flat_hash_map<TaskId, uint64_t> by_id_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SCHEDULER_BATCH_QUEUE_H_
