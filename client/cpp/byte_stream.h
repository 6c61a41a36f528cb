// A call with any number of messages each way that the thread which makes it drives itself.
#ifndef GPUCALL_CLIENT_CPP_BYTE_STREAM_H_
#define GPUCALL_CLIENT_CPP_BYTE_STREAM_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/connection.h"
#include "client/cpp/message_writer.h"

namespace gpucall {
inline namespace client {

// Lets gRPC work on this thread until `owner` has no more than `holders`: a call that ended early
// may still be in the middle of sending bytes that it stands for.
void AwaitRelease(const Owner& owner, long holders, grpc::CompletionQueue& queue);

// Each method blocks. Not thread-safe.
class ByteStream {
 public:
  ByteStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
             absl::Time deadline, std::stop_token stop);
  // Cancels the call if it goes on. The bytes of `owner` that it was given are let go.
  ~ByteStream();

  // While the call lives the bytes of messages with it stay where they are.
  const Owner& owner() const { return owner_; }
  // False: the call has ended; Finish says how.
  bool Write(const grpc::ByteBuffer& message);
  bool WritesDone();
  // False: there are no more, or the call has ended.
  bool Read(grpc::ByteBuffer& message);
  absl::Status Finish();

 private:
  bool Wait();

  const Owner owner_ = std::make_shared<const char>();
  grpc::CompletionQueue queue_;  // outlives the call
  std::unique_ptr<CallContext> context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool is_finished_ = false;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_BYTE_STREAM_H_
