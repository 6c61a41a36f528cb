// The segments that clients have registered, by id.
#ifndef GPUCALL_SERVER_STORE_SEGMENT_TABLE_H_
#define GPUCALL_SERVER_STORE_SEGMENT_TABLE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/store/segment.h"

namespace gpucall {

// Thread-safe. What calls use outlives its removal.
class SegmentTable {
 public:
  static constexpr size_t kIdBytes = 16;

  // A random id, which nobody can guess. INTERNAL: the system gives no random bytes.
  absl::StatusOr<std::string> Add(std::shared_ptr<const Segment> segment);
  // NOT_FOUND: there is none.
  absl::StatusOr<std::shared_ptr<const Segment>> Find(absl::string_view id) const;
  // Nothing where there is none.
  void Remove(absl::string_view id);
  size_t size() const;

 private:
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Segment>> segments_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_SEGMENT_TABLE_H_
