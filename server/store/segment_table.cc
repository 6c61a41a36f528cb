#include "server/store/segment_table.h"

#include <sys/random.h>

#include <utility>

#include "absl/status/status.h"

namespace gpucall {

absl::StatusOr<std::string> SegmentTable::Add(std::shared_ptr<const Segment> segment) {
  std::string id(kIdBytes, '\0');
  if (getrandom(id.data(), id.size(), 0) != static_cast<ssize_t>(id.size())) {
    return absl::InternalError("segment: there are no random bytes for its id");
  }
  MutexLock lock(mutex_);
  segments_.emplace(id, std::move(segment));
  return id;
}

absl::StatusOr<std::shared_ptr<const Segment>> SegmentTable::Find(absl::string_view id) const {
  MutexLock lock(mutex_);
  const auto found = segments_.find(id);
  if (found != segments_.end()) return found->second;
  return absl::NotFoundError("segment: there is none with this id");
}

void SegmentTable::Remove(absl::string_view id) {
  std::shared_ptr<const Segment> removed;  // unmapped without the lock
  MutexLock lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end()) return;
  removed = std::move(found->second);
  segments_.erase(found);
}

size_t SegmentTable::size() const {
  MutexLock lock(mutex_);
  return segments_.size();
}

}  // namespace gpucall
