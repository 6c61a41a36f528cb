#include "server/scheduler/batch_queue.h"

#include "absl/strings/str_cat.h"

namespace gpucall {

absl::Status BatchQueue::Add(std::unique_ptr<Task>& task) {
  if (order_.size() >= limits_.max_queue_tasks) {
    return absl::UnavailableError(absl::StrCat(
        "queue is full: ", order_.size(), " calls wait, allowed are ", limits_.max_queue_tasks));
  }
  const int64_t size_bytes = size_bytes_ + task->host_bytes();
  if (!order_.empty() && size_bytes > limits_.max_queue_bytes) {
    return absl::UnavailableError(absl::StrCat(
        "queue is full: ", size_bytes, " bytes would wait, allowed are ", limits_.max_queue_bytes));
  }
  const uint64_t sequence = next_sequence_++;
  size_bytes_ = size_bytes;
  by_signature_[task->plan.signature].insert(sequence);
  by_id_[task->id] = sequence;
  if (task->deadline != SteadyTime::max()) by_deadline_.emplace(task->deadline, sequence);
  order_.emplace(sequence, std::move(task));
  return absl::OkStatus();
}

std::unique_ptr<Task> BatchQueue::TakeAt(uint64_t sequence) {
  const auto it = order_.find(sequence);
  std::unique_ptr<Task> task = std::move(it->second);
  order_.erase(it);
  size_bytes_ -= task->host_bytes();
  const auto same = by_signature_.find(task->plan.signature);
  same->second.erase(sequence);
  if (same->second.empty()) by_signature_.erase(same);
  by_id_.erase(task->id);
  by_deadline_.erase({task->deadline, sequence});
  return task;
}

Batch BatchQueue::Take(SteadyTime now) {
  Batch batch;
  const auto alive = [now](const auto& entry) { return entry.second->deadline > now; };
  auto first = order_.begin();
  while (first != order_.end() && !alive(*first)) ++first;
  if (first == order_.end()) return batch;

  std::vector<uint64_t> chosen;
  int64_t size_bytes = 0;
  for (uint64_t sequence : by_signature_.at(first->second->plan.signature)) {
    const auto it = order_.find(sequence);
    if (!alive(*it)) continue;
    size_bytes += it->second->size_bytes();
    if (!chosen.empty() && size_bytes > limits_.max_batch_bytes) break;
    chosen.push_back(sequence);
    if (chosen.size() >= limits_.max_batch_tasks) break;
  }
  for (uint64_t sequence : chosen) batch.push_back(TakeAt(sequence));
  return batch;
}

Batch BatchQueue::TakeExpired(SteadyTime now) {
  Batch expired;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    expired.push_back(TakeAt(by_deadline_.begin()->second));
  }
  return expired;
}

std::unique_ptr<Task> BatchQueue::Remove(TaskId id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : TakeAt(it->second);
}

Batch BatchQueue::TakeAll() {
  Batch all;
  while (!order_.empty()) all.push_back(TakeAt(order_.begin()->first));
  return all;
}

SteadyTime BatchQueue::earliest_deadline() const {
  return by_deadline_.empty() ? SteadyTime::max() : by_deadline_.begin()->first;
}

}  // namespace gpucall
