#include "client/cpp/unary_call.h"

#include <grpcpp/completion_queue.h>

#include <utility>

#include "client/cpp/byte_stream.h"
#include "client/cpp/channel.h"
#include "client/cpp/wire.h"

namespace gpucall {
inline namespace client {
namespace {

WantReceipt WantReceiptOf(const CallOptions& options) {
  return options.receipt != nullptr ? WantReceipt::kYes : WantReceipt::kNo;
}

// A call that StartUnary has begun. Owned by its completion.
struct PendingCall {
  PendingCall(std::shared_ptr<Connection> connection, absl::Time deadline, std::stop_token stop)
      : connection(std::move(connection)), context(deadline, std::move(stop)) {}

  const std::shared_ptr<Connection> connection;  // first: outlives the channel's use in context
  CallContext context;
  grpc::ByteBuffer request, reply;
  std::shared_ptr<const SharedTensors> shared;
  Receipt* receipt = nullptr;
  Client::Callback callback;

  static void Complete(std::unique_ptr<PendingCall> call, const grpc::Status& status) {
    const OnCallbackThread here;
    Client::Reply reply = status.ok() ? DecodeReply(call->reply, call->receipt, call->shared.get())
                                      : Client::Reply(ToAbsl(status));
    Client::Callback callback = std::move(call->callback);
    call.reset();  // first: whoever waits for the callback may then destroy the Client
    callback(std::move(reply));
  }
};

}  // namespace

Client::Reply CallUnary(Connection& connection, const EncodedRequest& request,
                        const CallOptions& options, absl::Time deadline) {
  const absl::StatusOr<grpc::ByteBuffer> reply = SendUnary(connection, request, options, deadline);
  if (!reply.ok()) return reply.status();
  return DecodeReply(*reply, options.receipt, request.shared.get());
}

absl::StatusOr<grpc::ByteBuffer> SendUnary(Connection& connection, const EncodedRequest& request,
                                           const CallOptions& options, absl::Time deadline) {
  const long holders = request.owner.use_count();
  absl::StatusOr<grpc::ByteBuffer> message = EncodeUnary(request, WantReceiptOf(options));
  if (!message.ok()) return message.status();
  // The calling thread drives the call through a queue of its own: no hand-over to another thread.
  grpc::CompletionQueue queue;
  grpc::ByteBuffer reply;
  grpc::Status status;
  void* tag = nullptr;
  bool ok = false;
  {
    CallContext context(deadline, options.stop);
    const auto call =
        connection.calls.PrepareUnaryCall(context.get(), request.method, *message, &queue);
    message->Clear();
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    queue.Next(&tag, &ok);
  }
  if (request.is_borrowed) AwaitRelease(request.owner, holders, queue);
  queue.Shutdown();
  queue.Next(&tag, &ok);
  if (!status.ok()) return ToAbsl(status);
  return reply;
}

void StartUnary(std::shared_ptr<Connection> connection, const EncodedRequest& request,
                const CallOptions& options, absl::Time deadline, Client::Callback callback) {
  absl::StatusOr<grpc::ByteBuffer> message = EncodeUnary(request, WantReceiptOf(options));
  if (!message.ok()) {
    callback(message.status());
    return;
  }
  auto call = std::make_unique<PendingCall>(std::move(connection), deadline, options.stop);
  call->request = *std::move(message);
  call->shared = request.shared;
  call->receipt = options.receipt;
  call->callback = std::move(callback);
  PendingCall* pending = call.release();
  pending->connection->calls.UnaryCall(
      pending->context.get(), request.method, {}, &pending->request, &pending->reply,
      [pending](const grpc::Status& status) {
        PendingCall::Complete(std::unique_ptr<PendingCall>(pending), status);
      });
}

}  // namespace client
}  // namespace gpucall
