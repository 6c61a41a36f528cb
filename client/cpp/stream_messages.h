// What a client sends in a RunStream.
#ifndef GPUCALL_CLIENT_CPP_STREAM_MESSAGES_H_
#define GPUCALL_CLIENT_CPP_STREAM_MESSAGES_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/cpp/chunks.h"
#include "client/cpp/encoded_request.h"
#include "client/cpp/wire.h"

namespace gpucall {
inline namespace client {

struct StreamOptions {
  WantReceipt receipt = WantReceipt::kNo;
  Checksums checksums = Checksums::kNo;
};

// The messages of one call, one after another: `start`, with small inputs in it, then the chunks of
// the others, in turns, so that the server can begin with what it has. They refer to the inputs'
// elements (message_writer.h).
class StreamMessages {
 public:
  StreamMessages(std::shared_ptr<const EncodedRequest> request, const StreamOptions& options)
      : request_(std::move(request)), options_(options) {}

  // The next; none after the last.
  std::optional<grpc::ByteBuffer> Next();
  // Of elements in the messages so far.
  int64_t bytes_given() const { return bytes_given_; }

 private:
  grpc::ByteBuffer Start();
  grpc::ByteBuffer Chunk(size_t input);

  const std::shared_ptr<const EncodedRequest> request_;
  const StreamOptions options_;
  bool started_ = false;
  std::vector<size_t> sent_;  // bytes of each input
  int64_t bytes_given_ = 0;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_STREAM_MESSAGES_H_
