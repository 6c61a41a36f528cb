// The tensors that a client sends in chunks.
#ifndef GPUCALL_SERVER_SERVICE_STREAM_INPUTS_H_
#define GPUCALL_SERVER_SERVICE_STREAM_INPUTS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "server/base/tensor_type.h"
#include "server/device/device.h"
#include "server/service/request_reader.h"

namespace gpucall {

// That a chunk is the next of a tensor: at `offset`, of at most `left_bytes` more, and as its
// checksum says. INVALID_ARGUMENT and DATA_LOSS, naming `what` and the numbers.
inline constexpr int64_t kMaxChunkBytes = int64_t{16} << 20;
absl::Status CheckChunk(absl::string_view what, const WireChunk& chunk, int64_t offset,
                        int64_t left_bytes);

// Puts chunks into buffers of the device as they come. Used by one thread at a time.
class StreamInputs {
 public:
  // Makes a buffer for each input that is streamed and sets it in `inputs`, so that nothing is sent
  // in vain. RESOURCE_EXHAUSTED: the device has no memory for them.
  absl::Status Begin(Device& device, const std::vector<TensorType>& types,
                     const std::vector<bool>& is_streamed, std::vector<Storage>& inputs);

  // INVALID_ARGUMENT: no such tensor, not the next bytes of it, past its end, no data or too much.
  // DATA_LOSS: a wrong checksum. Messages name the chunk's tensor and offset.
  absl::Status Write(const WireChunk& chunk);

  // Returns once all bytes are in the device. INVALID_ARGUMENT: some have not been sent.
  absl::Status Finish();

 private:
  // A streamed input and how much of it has come; no buffer for the others.
  struct Input {
    BufferPointer buffer;
    int64_t received_bytes = 0;
  };

  absl::Status Check(const WireChunk& chunk) const;

  std::vector<Input> inputs_;
  std::unique_ptr<Copier> copier_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_STREAM_INPUTS_H_
