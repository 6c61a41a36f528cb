#include "server/scheduler/batch_scheduler.h"

#include <utility>

#include "absl/time/time.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

SteadyTime Now() { return std::chrono::steady_clock::now(); }

absl::Status DeadlinePassed() {
  return absl::DeadlineExceededError("deadline passed before the work was started");
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchScheduler>> BatchScheduler::Make(
    Device& device, int lanes, const BatchQueue::Limits& limits) {
  if (lanes == 0) lanes = device.info().default_lanes;
  std::vector<std::unique_ptr<Lane>> made;
  for (int i = 0; i < lanes; ++i) {
    GPUCALL_ASSIGN_OR_RETURN(made.emplace_back(), device.MakeLane());
  }
  return std::unique_ptr<BatchScheduler>(new BatchScheduler(std::move(made), limits));
}

BatchScheduler::BatchScheduler(std::vector<std::unique_ptr<Lane>> lanes,
                               const BatchQueue::Limits& limits)
    : lanes_(std::move(lanes)), queue_(limits) {
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    threads_.emplace_back([this, &lane = *lane] { RunLane(lane); });
  }
  threads_.emplace_back([this] { WatchDeadlines(); });
}

BatchScheduler::~BatchScheduler() {
  Batch left;
  {
    MutexLock lock(mutex_);
    draining_ = stopping_ = true;
    left = queue_.TakeAll();
    work_.NotifyAll();
    deadlines_.NotifyAll();
  }
  Finish(std::move(left), absl::UnavailableError("server is stopping"));
  for (std::thread& thread : threads_) thread.join();
}

absl::Status BatchScheduler::Schedule(std::unique_ptr<Task> task) {
  task->scheduled_at = Now();
  if (task->deadline <= task->scheduled_at) return DeadlinePassed();
  MutexLock lock(mutex_);
  if (draining_) return absl::UnavailableError("server is draining, retry elsewhere or later");
  const SteadyTime earliest = queue_.earliest_deadline();
  GPUCALL_RETURN_IF_ERROR(queue_.Add(task));
  ++unfinished_;
  work_.NotifyOne();
  if (queue_.earliest_deadline() < earliest) deadlines_.NotifyOne();
  return absl::OkStatus();
}

void BatchScheduler::Cancel(TaskId id) {
  Batch cancelled;
  {
    MutexLock lock(mutex_);
    if (std::unique_ptr<Task> task = queue_.Remove(id)) cancelled.push_back(std::move(task));
  }
  Finish(std::move(cancelled),
         absl::CancelledError("call was cancelled before the work was started"));
}

bool BatchScheduler::Drain(SteadyTime deadline) {
  MutexLock lock(mutex_);
  draining_ = true;
  while (unfinished_ > 0 && Now() < deadline) idle_.WaitUntil(mutex_, deadline);
  return unfinished_ == 0;
}

void BatchScheduler::RunLane(Lane& lane) {
  while (true) {
    Batch batch;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && queue_.size() == 0) work_.Wait(mutex_);
      if (stopping_) return;
      batch = queue_.Take(Now());
      // Only expired tasks wait: the deadline thread is about to take them.
      if (batch.empty()) work_.WaitUntil(mutex_, Now() + std::chrono::milliseconds(1));
    }
    if (!batch.empty()) RunBatch(lane, std::move(batch));
  }
}

void BatchScheduler::RunBatch(Lane& lane, Batch batch) {
  const SteadyTime start = Now();
  std::vector<Execution> executions(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    executions[i].plan = &batch[i]->plan;
    executions[i].inputs = batch[i]->inputs;
    executions[i].keep_outputs = batch[i]->keep_outputs;
    executions[i].targets = batch[i]->targets;
  }
  BatchTiming timing;
  const absl::Status status = lane.Execute(absl::MakeSpan(executions), timing);
  if (absl::IsResourceExhausted(status) && batch.size() > 1) {
    // Together they were too much for the device; alone each may fit.
    for (std::unique_ptr<Task>& task : batch) {
      Batch alone;
      alone.push_back(std::move(task));
      RunBatch(lane, std::move(alone));
    }
    return;
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    TaskResult result;
    result.status = status.ok() ? executions[i].status : status;
    if (result.status.ok()) result.outputs = executions[i].outputs;
    result.queue_time = absl::FromChrono(start - batch[i]->scheduled_at);
    result.timing = timing;
    result.batch_size = static_cast<int>(batch.size());
    batch[i]->done(result);
  }
  Release(batch.size());
}

void BatchScheduler::WatchDeadlines() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    Batch expired = queue_.TakeExpired(Now());
    if (!expired.empty()) {
      mutex_.Unlock();
      Finish(std::move(expired), DeadlinePassed());
      mutex_.Lock();
    } else if (queue_.earliest_deadline() == SteadyTime::max()) {
      deadlines_.Wait(mutex_);
    } else {
      deadlines_.WaitUntil(mutex_, queue_.earliest_deadline());
    }
  }
}

void BatchScheduler::Finish(Batch tasks, const absl::Status& status) {
  if (tasks.empty()) return;
  TaskResult result;
  result.status = status;
  for (const std::unique_ptr<Task>& task : tasks) task->done(result);
  Release(tasks.size());
}

void BatchScheduler::Release(size_t count) {
  MutexLock lock(mutex_);
  unfinished_ -= count;
  if (unfinished_ == 0) idle_.NotifyAll();
}

}  // namespace gpucall
