// The tensors that a client sends in chunks.
#ifndef GPUCALL_SERVER_SERVICE_STREAM_INPUTS_H_
#define GPUCALL_SERVER_SERVICE_STREAM_INPUTS_H_

#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "server/device/device.h"
#include "server/service/decode.h"
#include "server/service/stream_blocks.h"

namespace gpucall {

inline constexpr int64_t kMaxChunkBytes = int64_t{16} << 20;

// That a chunk is the next of a tensor: at `offset`, of at most `left_bytes` more, and as its
// checksum says. INVALID_ARGUMENT and DATA_LOSS, naming `what` and the numbers.
absl::Status CheckChunk(absl::string_view what, const WireChunk& chunk, int64_t offset,
                        int64_t left_bytes);

// Puts chunks into buffers of the device as they come, one for each block of the work. Used by one
// thread at a time.
class StreamInputs {
 public:
  // `blocks` must outlive this. Where the work is not divided, makes all buffers at once, so that
  // nothing is sent in vain. RESOURCE_EXHAUSTED: the device has no memory for them.
  absl::Status Begin(Device& device, const StreamBlocks& blocks, DecodedStream stream);

  // INVALID_ARGUMENT: no such tensor, not the next bytes of it, past its end, no data or too much.
  // DATA_LOSS: a wrong checksum. RESOURCE_EXHAUSTED: no device memory. Messages name the chunk's
  // tensor and offset.
  absl::Status Write(const WireChunk& chunk);

  // True once all of a block has come.
  bool HasBlock(int64_t block) const;
  // The inputs of a block. Call once for each block, in order. REQUIRES: HasBlock.
  absl::StatusOr<std::vector<Storage>> TakeBlock(int64_t block);

  // INVALID_ARGUMENT: some bytes have not been sent.
  absl::Status CheckComplete() const;

 private:
  struct Input {
    TensorType type;
    HostBytes host;          // where it came inline
    BufferPointer resident;  // where it is on the device
    bool is_streamed = false;
    int64_t received_bytes = 0;
    std::deque<BufferPointer> buffers;  // of blocks that have not been taken
    int64_t first_block = 0;            // the block of the first of them
  };

  absl::Status Check(const WireChunk& chunk) const;
  // The part of the chunk that belongs to the block in which it begins.
  absl::StatusOr<int64_t> WritePart(Input& input, const HostBytes& data);
  absl::Status AddBuffer(Input& input);
  bool IsShared(const Input& input) const {
    return blocks_->is_divided() && input.type.count() == 1;
  }

  Device* device_ = nullptr;
  const StreamBlocks* blocks_ = nullptr;
  std::vector<Input> inputs_;
  std::unique_ptr<Copier> copier_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_STREAM_INPUTS_H_
