// A Client's connection, and what every call on it needs.
#ifndef GPUCALL_CLIENT_CPP_CONNECTION_H_
#define GPUCALL_CLIENT_CPP_CONNECTION_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/time/time.h"
#include "client/cpp/arena.h"
#include "client/cpp/session.h"
#include "gpucall/client.h"
#include "gpucall/v1/server.grpc.pb.h"

namespace gpucall {
inline namespace client {

struct Connection {
  // `arena` is null where no memory is shared with the server.
  Connection(std::shared_ptr<grpc::Channel> channel, std::shared_ptr<Arena> arena,
             int64_t stream_bytes)
      : channel(channel),
        calls(channel),
        server(channel),
        arena(std::move(arena)),
        stream_bytes(stream_bytes),
        session(channel) {}

  // Works on a thread of gRPC too, though the last channel of a process joins those.
  static void Delete(Connection* connection);

  const std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub calls;
  v1::Server::Stub server;
  const std::shared_ptr<Arena> arena;
  const int64_t stream_bytes;  // calls with more bytes of inputs go through RunStream
  Session session;
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
