// The session that a Client's tensors on the server belong to.
#ifndef GPUCALL_CLIENT_CPP_SESSION_H_
#define GPUCALL_CLIENT_CPP_SESSION_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "gpucall/v1/tensors.grpc.pb.h"

namespace gpucall {
inline namespace client {

// Opened when it is first needed. Thread-safe.
class Session {
 public:
  explicit Session(const std::shared_ptr<grpc::Channel>& channel) : tensors_(channel) {}
  // Ends it, where the server answers within a second.
  ~Session();

  // Its id. Errors: the server's, and those of the connection.
  absl::StatusOr<std::string> id();
  // That the server knows `id` no more: the next is another.
  void Forget(const std::string& id);

 private:
  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::Session>> reader;
    std::string id;
  };
  static void Close(Stream& stream);

  v1::Tensors::Stub tensors_;
  std::mutex mutex_;
  std::unique_ptr<Stream> stream_;  // null: none is open
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_SESSION_H_
