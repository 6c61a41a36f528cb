// How the work of a stream is divided: what is elementwise begins while its inputs still come.
#ifndef GPUCALL_SERVER_SERVICE_STREAM_BLOCKS_H_
#define GPUCALL_SERVER_SERVICE_STREAM_BLOCKS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/program/plan.h"
#include "server/service/decode.h"

namespace gpucall {

// One block, or, for elementwise operations over tensors of one shape and scalars that are one
// step, blocks of some MiB each: element i of an output needs only elements i. Results are the same
// bits. One block also where outputs are kept. Blocks begin at multiples of kPartAlignment.
class StreamBlocks {
 public:
  static constexpr int64_t kBlockBytes = int64_t{4} << 20;  // of the widest dtype

  struct Range {
    int64_t offset, size_bytes;
    int64_t end() const { return offset + size_bytes; }
  };

  // Errors: MakePlan's, for the Program as a whole.
  static absl::StatusOr<StreamBlocks> Make(const DecodedCall& call, int64_t max_tensor_bytes);

  int64_t count() const { return count_; }
  bool is_divided() const { return count_ > 1; }
  const Plan& whole() const { return whole_; }
  absl::StatusOr<Plan> PlanOf(int64_t block) const;
  // The bytes of an input or output that belong to a block; all of a scalar belongs to each.
  Range RangeOf(const TensorType& type, int64_t block) const;

 private:
  int64_t ElementsOf(int64_t block) const;

  Program program_;
  std::vector<TensorType> types_;  // of the inputs
  int64_t max_tensor_bytes_ = 0;
  Plan whole_;
  int64_t count_ = 1;
  int64_t element_count_ = 0, block_elements_ = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_STREAM_BLOCKS_H_
