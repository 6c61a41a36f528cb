// Runs tasks on a device's lanes: owns the queue, its lock, one thread a lane and one for
// deadlines. No rules of its own.
#ifndef GPUCALL_SERVER_SCHEDULER_BATCH_SCHEDULER_H_
#define GPUCALL_SERVER_SCHEDULER_BATCH_SCHEDULER_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/device/device.h"
#include "server/scheduler/batch_queue.h"
#include "server/scheduler/task.h"

namespace gpucall {

// Thread-safe. A free lane takes what waits at once; tasks gather into batches only while all lanes
// are busy, so a batch adds no delay.
class BatchScheduler {
 public:
  // `device` outlives the scheduler. lanes: 0 for the device's default. Errors: those of
  // Device::MakeLane.
  static absl::StatusOr<std::unique_ptr<BatchScheduler>> Make(Device& device, int lanes,
                                                              const BatchQueue::Limits& limits);
  // Tasks still queued end with UNAVAILABLE; running batches finish first.
  ~BatchScheduler();

  TaskId NewTaskId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // Accepts `task` for a later batch. Never blocks on the device.
  // OK: `task->done` is called exactly once. On error it is never called and `task` is destroyed.
  // UNAVAILABLE: queue full or draining, retry later. DEADLINE_EXCEEDED: the deadline has passed.
  absl::Status Schedule(std::unique_ptr<Task> task);

  // A task not yet started ends with CANCELLED, before this returns. Else nothing happens.
  void Cancel(TaskId id);

  // Refuses new tasks from now on, and waits for the accepted ones. False: some were left at
  // `deadline`.
  bool Drain(SteadyTime deadline);

  int lanes() const { return static_cast<int>(lanes_.size()); }
  // Tasks accepted whose `done` has not returned.
  size_t unfinished() {
    MutexLock lock(mutex_);
    return unfinished_;
  }

 private:
  BatchScheduler(std::vector<std::unique_ptr<Lane>> lanes, const BatchQueue::Limits& limits);

  void RunLane(Lane& lane);
  void RunBatch(Lane& lane, Batch batch);
  void WatchDeadlines();
  void Finish(Batch tasks, const absl::Status& status);
  void Release(size_t count);

  std::atomic<TaskId> next_id_{1};
  const std::vector<std::unique_ptr<Lane>> lanes_;
  Mutex mutex_;
  CondVar work_;       // something to take, or stopping
  CondVar deadlines_;  // the earliest deadline may have changed, or stopping
  CondVar idle_;       // unfinished_ became 0
  BatchQueue queue_ ABSL_GUARDED_BY(mutex_);
  size_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;  // accepted, `done` not yet returned
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SCHEDULER_BATCH_SCHEDULER_H_
