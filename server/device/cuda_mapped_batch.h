// Host memory that kernels use where it is.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_MAPPED_BATCH_H_
#define GPUCALL_SERVER_DEVICE_CUDA_MAPPED_BATCH_H_

#include <deque>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/device/device.h"

namespace gpucall {

// A batch as a lane runs it: page-locked inputs that elementwise steps read once, and page-locked
// targets that they write once, are buffers. A GPU reads and writes them over PCIe in both
// directions at a time, as fast as copies in slices and without their delay.
class MappedBatch {
 public:
  // Smaller ones are packed with what else the batch needs.
  static constexpr int64_t kMinBytes = int64_t{16} << 10;

  // `batch`, whose outputs hold the buffers of those to keep, must outlive this.
  explicit MappedBatch(absl::Span<Execution> batch);

  absl::Span<Execution> executions() { return absl::MakeSpan(executions_); }
  // Hands the results to the batch.
  void Deliver();

 private:
  void MapInputs(Execution& execution);
  void MapTargets(Execution& execution);

  const absl::Span<Execution> batch_;
  std::vector<Execution> executions_;
  std::deque<std::vector<Storage>> inputs_;                // of executions that have mapped ones
  std::deque<absl::InlinedVector<bool, 4>> keep_outputs_;  // the same
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_MAPPED_BATCH_H_
