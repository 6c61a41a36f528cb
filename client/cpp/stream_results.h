// What a client receives in a RunStream.
#ifndef GPUCALL_CLIENT_CPP_STREAM_RESULTS_H_
#define GPUCALL_CLIENT_CPP_STREAM_RESULTS_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/message_reader.h"
#include "gpucall/client.h"
#include "gpucall/tensor.h"

namespace gpucall {
inline namespace client {

// Checks the messages of one call and writes chunks into the outputs' own memory. After an error
// nothing more may be asked of it.
class StreamResults {
 public:
  // INTERNAL: the message is not what has to come next. DATA_LOSS: a chunk's bytes are not those of
  // its checksum. RESOURCE_EXHAUSTED: no memory for an output.
  absl::Status Receive(const grpc::ByteBuffer& message);
  // After the last message: the outputs. Sets *receipt unless null. INTERNAL: some are missing.
  absl::StatusOr<std::vector<Tensor>> Finish(Receipt* receipt);

  int64_t bytes_received() const { return bytes_received_; }  // of elements
  int64_t bytes_in_all() const { return bytes_in_all_; }      // 0 before `result` came

 private:
  absl::Status Begin(const ReceivedReply& result);
  absl::Status Write(const ReceivedChunk& chunk);
  absl::Status Check(const ReceivedChunk& chunk) const;

  bool begun_ = false;
  v1::Receipt receipt_;
  std::vector<Tensor> outputs_;
  std::vector<size_t> received_;  // bytes of each output
  int64_t bytes_received_ = 0, bytes_in_all_ = 0;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_STREAM_RESULTS_H_
