// A Client's connection, and what every call on it needs.
#ifndef GPUCALL_CLIENT_CPP_CONNECTION_H_
#define GPUCALL_CLIENT_CPP_CONNECTION_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/cpp/arena.h"
#include "client/cpp/session.h"
#include "gpucall/client.h"
#include "gpucall/v1/server.grpc.pb.h"

namespace gpucall {
inline namespace client {

struct Connection {
  // `arena` is null where no memory is shared with the server.
  Connection(std::string target, std::shared_ptr<Arena> arena, const ConnectOptions& options);

  // Works on a thread of gRPC too, though the last channel of a process joins those.
  static void Delete(Connection* connection);

  // Large tensors are moved over so many connections at a time, of which the channel's is one.
  size_t stripes() const { return stripes_.size() + 1; }
  // The channel of one of them, below stripes(). Thread-safe.
  std::shared_ptr<grpc::Channel> Stripe(size_t index);

  const std::string target;
  const ConnectOptions options;
  const std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub calls;
  v1::Server::Stub server;
  const std::shared_ptr<Arena> arena;
  Session session;

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<grpc::Channel>> stripes_;  // but for the first; made when needed
};

// Marks a thread of gRPC while it lives.
class OnCallbackThread {
 public:
  OnCallbackThread();
  ~OnCallbackThread();
  OnCallbackThread(const OnCallbackThread&) = delete;
  OnCallbackThread& operator=(const OnCallbackThread&) = delete;
};

// The context of one call: has its deadline, and is cancelled by a request to stop.
class CallContext {
 public:
  CallContext(absl::Time deadline, std::stop_token stop)
      : stop_(std::move(stop), Canceller{context_}) {
    if (deadline != absl::InfiniteFuture()) context_.set_deadline(absl::ToChronoTime(deadline));
  }

  grpc::ClientContext* get() { return &context_; }

 private:
  struct Canceller {
    grpc::ClientContext& context;
    void operator()() const { context.TryCancel(); }
  };

  grpc::ClientContext context_;
  std::stop_callback<Canceller> stop_;  // last: ends before the context does
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_CONNECTION_H_
