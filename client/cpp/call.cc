#include "client/cpp/call.h"

#include <algorithm>
#include <future>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "client/cpp/residents.h"
#include "client/cpp/shared_call.h"
#include "client/cpp/stream_call.h"
#include "client/cpp/unary_call.h"

namespace gpucall {
inline namespace client {
namespace {

// The server's way to say that only its unary form is too small for the call.
bool IsForStream(const absl::Status& status) {
  return status.code() == absl::StatusCode::kResourceExhausted &&
         absl::StrContains(status.message(), "RunStream takes larger ones");
}

// Tells, by its destruction, that nobody refers to the caller's elements any more.
struct Borrowing {
  std::promise<void> over;
  ~Borrowing() { over.set_value(); }
};

// Without shared memory.
void StartSent(std::shared_ptr<Connection> connection,
               std::shared_ptr<const EncodedRequest> request, const CallOptions& options,
               absl::Time deadline, Client::Callback callback) {
  if (request->InputBytes() > connection->options.stream_bytes) {
    StartStream(std::move(connection), std::move(request), options, deadline, std::move(callback));
    return;
  }
  StartUnary(connection, *request, options, deadline,
             [connection, request, options, deadline,
              callback = std::move(callback)](Client::Reply reply) mutable {
               if (IsForStream(reply.status())) {
                 StartStream(std::move(connection), std::move(request), options, deadline,
                             std::move(callback));
                 return;
               }
               connection.reset();  // first: whoever waits for the callback may then exit
               callback(std::move(reply));
             });
}

}  // namespace

Client::Reply CallOwned(const std::shared_ptr<Connection>& connection,
                        std::shared_ptr<const EncodedRequest> request, const CallOptions& options) {
  const absl::Time deadline = absl::Now() + options.deadline;
  std::vector<TensorHandle> put;  // beside tensors that stay, large ones go there first
  if (std::ranges::any_of(request->inputs, &TensorRef::is_resident)) {
    absl::StatusOr<EncodedRequest> sent =
        PutLargeInputs(connection, *request, options, deadline, put);
    if (!sent.ok()) return sent.status();
    request = std::make_shared<const EncodedRequest>(*std::move(sent));
  }
  if (const auto shared = ShareTensors(connection->arena, *request)) {
    Client::Reply reply = CallUnary(*connection, *shared, options, deadline);
    if (!EndSharedCall(*connection->arena, *shared, reply.status())) return reply;
  }
  if (request->InputBytes() <= connection->options.stream_bytes) {
    Client::Reply reply = CallUnary(*connection, *request, options, deadline);
    if (!IsForStream(reply.status())) return reply;
  }
  std::promise<Client::Reply> promise;
  std::future<Client::Reply> reply = promise.get_future();
  StartStream(connection, std::move(request), options, deadline,
              [promise = std::move(promise)](Client::Reply reply) mutable {
                promise.set_value(std::move(reply));
              });
  return reply.get();
}

Client::Reply CallBorrowed(const std::shared_ptr<Connection>& connection, EncodedRequest request,
                           const CallOptions& options) {
  auto borrowing = std::make_shared<Borrowing>();
  const std::future<void> over = borrowing->over.get_future();
  request.owner = std::move(borrowing);
  request.is_borrowed = true;
  Client::Reply reply =
      CallOwned(connection, std::make_shared<const EncodedRequest>(std::move(request)), options);
  over.wait();
  return reply;
}

void StartOwned(std::shared_ptr<Connection> connection,
                std::shared_ptr<const EncodedRequest> request, const CallOptions& options,
                Client::Callback callback) {
  const absl::Time deadline = absl::Now() + options.deadline;
  std::shared_ptr<const EncodedRequest> shared = ShareTensors(connection->arena, *request);
  if (shared == nullptr) {
    StartSent(std::move(connection), std::move(request), options, deadline, std::move(callback));
    return;
  }
  StartUnary(connection, *shared, options, deadline,
             [connection, request, shared, options, deadline,
              callback = std::move(callback)](Client::Reply reply) mutable {
               if (EndSharedCall(*connection->arena, *shared, reply.status())) {
                 StartSent(std::move(connection), std::move(request), options, deadline,
                           std::move(callback));
                 return;
               }
               connection.reset();
               callback(std::move(reply));
             });
}

}  // namespace client
}  // namespace gpucall
