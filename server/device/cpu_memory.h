// A lane's memory on the CPU, kept between batches.
#ifndef GPUCALL_SERVER_DEVICE_CPU_MEMORY_H_
#define GPUCALL_SERVER_DEVICE_CPU_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace gpucall {

// Hands out memory in order, and takes all of it back at once. Batches of like size find the memory
// of the last one: no call to the system, no fresh pages. Not thread-safe.
class CpuMemory {
 public:
  static constexpr size_t kAlignment = 64;

  // `size_bytes`, aligned, not initialised; valid until Reset or a Rewind to before it. Of 0 bytes
  // too. RESOURCE_EXHAUSTED: the system has no more.
  absl::StatusOr<std::byte*> Allocate(size_t size_bytes);

  // A point to rewind to.
  struct Mark {
    size_t block = 0, used = 0;
  };
  Mark mark() const { return position_; }
  // Takes back what was allocated since `mark`.
  void Rewind(Mark mark) { position_ = mark; }

  // Takes back everything. Gives memory to the system only after kBatchesKept batches that needed
  // less than a quarter of it.
  void Reset();

  static constexpr int kBatchesKept = 64;

  // What is held from the system.
  size_t held_bytes() const;

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  struct Block {
    std::unique_ptr<std::byte[], Free> data;
    size_t size_bytes;
  };
  absl::Status AddBlock(size_t size_bytes);

  std::vector<Block> blocks_;
  Mark position_;
  size_t needed_ = 0;         // most bytes in use since Reset
  size_t recent_needed_ = 0;  // the most of the batches counted in batches_
  int batches_ = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_MEMORY_H_
