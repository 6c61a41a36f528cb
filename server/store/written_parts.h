// Which bytes of a tensor have come.
#ifndef GPUCALL_SERVER_STORE_WRITTEN_PARTS_H_
#define GPUCALL_SERVER_STORE_WRITTEN_PARTS_H_

#include <cstdint>
#include <map>

#include "absl/status/status.h"

namespace gpucall {

// Parts [offset, offset + size_bytes) of a tensor that writers have taken. Not thread-safe.
class WrittenParts {
 public:
  static constexpr size_t kMaxParts = 1024;  // that do not touch

  explicit WrittenParts(int64_t size_bytes) : size_bytes_(size_bytes) {}

  // Takes a part for a writer. INVALID_ARGUMENT: empty, past the end, or overlapping one that is
  // taken. RESOURCE_EXHAUSTED: kMaxParts are.
  absl::Status Take(uint64_t first, uint64_t size_bytes);
  // The part's bytes have come. REQUIRES: it is taken.
  void Finish(int64_t offset);
  // They have not: others may take it. REQUIRES: it is taken.
  void GiveUp(int64_t offset);

  bool complete() const { return done_bytes_ == size_bytes_; }
  int writers() const { return writers_; }

 private:
  struct Part {
    int64_t end;
    bool done;
  };
  using Parts = std::map<int64_t, Part>;  // by offset; done ones that touch are one

  const int64_t size_bytes_;
  int64_t done_bytes_ = 0;
  int writers_ = 0;
  Parts parts_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_WRITTEN_PARTS_H_
