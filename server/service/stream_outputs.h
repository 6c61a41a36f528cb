// The tensors that go back to a client in chunks.
#ifndef GPUCALL_SERVER_SERVICE_STREAM_OUTPUTS_H_
#define GPUCALL_SERVER_SERVICE_STREAM_OUTPUTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/device/device.h"

namespace gpucall {

// Reads buffers of the device block by block, some blocks ahead. Used by one thread at a time.
class StreamOutputs {
 public:
  struct Chunk {
    uint32_t tensor;
    int64_t offset;
    HostBytes data;
  };

  // Begins to read the buffers of a block, which hold the bytes of the outputs from `offsets` on.
  // Outputs without a buffer are passed over. REQUIRES: all of the block before has been read.
  absl::Status Begin(Device& device, std::vector<BufferPointer> buffers,
                     std::vector<int64_t> offsets);
  // None once all of the block has been read, and before the first.
  absl::StatusOr<std::optional<Chunk>> Next();

 private:
  struct Position {
    uint32_t tensor = 0;
    int64_t offset = 0;
  };

  // Begins reads until enough are under way.
  absl::Status ReadAhead();
  // Bytes of the chunk at `position`; moves past what is read. 0 at the end.
  int64_t ChunkBytes(Position& position) const;

  std::vector<BufferPointer> buffers_;
  std::vector<int64_t> offsets_;
  std::unique_ptr<Copier> copier_;
  Position next_read_, next_chunk_;
  int reads_ = 0;  // under way
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_STREAM_OUTPUTS_H_
