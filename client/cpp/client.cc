#include "gpucall/client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/channel.h"
#include "client/cpp/encoded_request.h"
#include "client/cpp/wire.h"
#include "gpucall/v1/server.grpc.pb.h"

namespace gpucall {
inline namespace client {
namespace {

void SetDeadline(const CallOptions& options, grpc::ClientContext& context) {
  if (options.deadline == absl::InfiniteDuration()) return;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options.deadline));
}

// While it lives, a request to stop cancels the call of `context`.
using StopCallback = std::stop_callback<std::function<void()>>;
auto Canceller(grpc::ClientContext& context) {
  return [&context] { context.TryCancel(); };
}

// Set on a thread of gRPC while it completes a call.
thread_local bool on_callback_thread = false;

grpc::ByteBuffer MessageOf(const grpc::ByteBuffer& request, const CallOptions& options) {
  return options.receipt != nullptr ? WithReceipt(request) : request;
}

absl::StatusOr<Tensor> OneOutput(Client::Reply reply) {
  if (!reply.ok()) return std::move(reply).status();
  if (reply->size() != 1) return absl::InternalError("the server's reply has no output");
  return std::move(reply->front());
}

}  // namespace

struct Client::Connection {
  explicit Connection(std::shared_ptr<grpc::Channel> channel)
      : channel(channel), calls(channel), server(channel) {}

  // The last channel of a process joins gRPC's callback threads, so none of them may destroy it.
  static void Delete(Connection* connection) {
    if (on_callback_thread) {
      std::thread([connection] { delete connection; }).detach();
    } else {
      delete connection;
    }
  }

  std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub calls;
  v1::Server::Stub server;
};

// A call that Start has begun. Owned by its completion.
struct Client::PendingCall {
  std::shared_ptr<Connection> connection;  // declared first: outlives the channel's use in context
  grpc::ClientContext context;
  grpc::ByteBuffer request, reply;
  Receipt* receipt;
  Callback callback;
  std::optional<StopCallback> stop;

  static void Complete(std::unique_ptr<PendingCall> call, const grpc::Status& status) {
    on_callback_thread = true;
    call->stop.reset();
    Reply reply =
        status.ok() ? DecodeReply(std::move(call->reply), call->receipt) : Reply(ToAbsl(status));
    Callback callback = std::move(call->callback);
    call.reset();  // first: whoever waits for the callback may then destroy the Client
    callback(std::move(reply));
    on_callback_thread = false;
  }
};

absl::StatusOr<Client> Connect(absl::string_view target, const ConnectOptions& options) {
  if (target.empty()) return absl::InvalidArgumentError("target is empty, use host or host:port");
  const std::shared_ptr<Client::Connection> connection(
      new Client::Connection(MakeChannel(FullTarget(target), options)), Client::Connection::Delete);
  if (options.connect_deadline > absl::ZeroDuration() &&
      !connection->channel->WaitForConnected(
          absl::ToChronoTime(absl::Now() + options.connect_deadline))) {
    return absl::UnavailableError(absl::StrCat("no connection to ", target, " within ",
                                               absl::FormatDuration(options.connect_deadline)));
  }
  return Client(connection);
}

Client::Reply Client::Call(const Request& request, const CallOptions& options) const {
  const Request::Encoded& encoded = *request.encoded_;
  if (!encoded.message.ok()) return encoded.message.status();
  grpc::ClientContext context;
  SetDeadline(options, context);
  const std::stop_callback stop(options.stop, Canceller(context));
  // The calling thread drives the call through a queue of its own: no hand-over to another thread.
  grpc::CompletionQueue queue;
  grpc::ByteBuffer reply;
  grpc::Status status;
  auto call = connection_->calls.PrepareUnaryCall(&context, encoded.method,
                                                  MessageOf(*encoded.message, options), &queue);
  call->StartCall();
  call->Finish(&reply, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  queue.Next(&tag, &ok);
  if (!status.ok()) return ToAbsl(status);
  return DecodeReply(std::move(reply), options.receipt);
}

void Client::Start(const Request& request, Callback callback, const CallOptions& options) const {
  const Request::Encoded& encoded = *request.encoded_;
  if (!encoded.message.ok()) {
    callback(encoded.message.status());
    return;
  }
  auto call = std::make_unique<PendingCall>();
  call->connection = connection_;
  call->request = MessageOf(*encoded.message, options);
  call->receipt = options.receipt;
  call->callback = std::move(callback);
  SetDeadline(options, call->context);
  call->stop.emplace(options.stop, Canceller(call->context));
  PendingCall* pending = call.release();
  connection_->calls.UnaryCall(&pending->context, encoded.method, {}, &pending->request,
                               &pending->reply, [pending](const grpc::Status& status) {
                                 PendingCall::Complete(std::unique_ptr<PendingCall>(pending),
                                                       status);
                               });
}

std::future<Client::Reply> Client::Future(const Request& request,
                                          const CallOptions& options) const {
  std::promise<Reply> promise;
  std::future<Reply> future = promise.get_future();
  Start(
      request,
      [promise = std::move(promise)](Reply reply) mutable { promise.set_value(std::move(reply)); },
      options);
  return future;
}

absl::StatusOr<ServerInfo> Client::Info(const CallOptions& options) const {
  grpc::ClientContext context;
  SetDeadline(options, context);
  const std::stop_callback stop(options.stop, Canceller(context));
  v1::ServerInfo info;
  const grpc::Status status = connection_->server.GetInfo(&context, {}, &info);
  if (!status.ok()) return ToAbsl(status);
  return FromWire(info);
}

absl::StatusOr<std::vector<CatalogueEntry>> Client::Catalogue(const CallOptions& options) const {
  grpc::ClientContext context;
  SetDeadline(options, context);
  const std::stop_callback stop(options.stop, Canceller(context));
  v1::Catalogue catalogue;
  const grpc::Status status = connection_->server.GetCatalogue(&context, {}, &catalogue);
  if (!status.ok()) return ToAbsl(status);
  return FromWire(catalogue);
}

absl::StatusOr<Tensor> Client::Elementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs,
                                           const CallOptions& options) const {
  return OneOutput(Call(Request::Elementwise(op, inputs), options));
}
absl::StatusOr<Tensor> Client::Cast(const TensorRef& x, DType dtype,
                                    const CallOptions& options) const {
  return OneOutput(Call(Request::Cast(x, dtype), options));
}
absl::StatusOr<Tensor> Client::MatMul(const TensorRef& a, const TensorRef& b,
                                      const MatMulOptions& matmul,
                                      const CallOptions& options) const {
  return OneOutput(Call(Request::MatMul(a, b, matmul), options));
}
absl::StatusOr<Tensor> Client::Gaussian(const TensorRef& image, const GaussianOptions& filter,
                                        const CallOptions& options) const {
  return OneOutput(Call(Request::Filter(image, filter), options));
}
absl::StatusOr<Tensor> Client::Box(const TensorRef& image, const BoxOptions& filter,
                                   const CallOptions& options) const {
  return OneOutput(Call(Request::Filter(image, filter), options));
}
absl::StatusOr<Tensor> Client::Sobel(const TensorRef& image, const SobelOptions& filter,
                                     const CallOptions& options) const {
  return OneOutput(Call(Request::Filter(image, filter), options));
}
absl::StatusOr<Tensor> Client::Laplacian(const TensorRef& image, const LaplacianOptions& filter,
                                         const CallOptions& options) const {
  return OneOutput(Call(Request::Filter(image, filter), options));
}
absl::StatusOr<Tensor> Client::Median(const TensorRef& image, const MedianOptions& filter,
                                      const CallOptions& options) const {
  return OneOutput(Call(Request::Filter(image, filter), options));
}
absl::StatusOr<Tensor> Client::Correlate(const TensorRef& image, const TensorRef& kernel,
                                         const CorrelateOptions& filter,
                                         const CallOptions& options) const {
  return OneOutput(Call(Request::Filter(image, kernel, filter), options));
}
absl::StatusOr<Tensor> Client::Convolve(const TensorRef& image, const TensorRef& kernel,
                                        const ConvolveOptions& filter,
                                        const CallOptions& options) const {
  return OneOutput(Call(Request::Filter(image, kernel, filter), options));
}
Client::Reply Client::Run(const Program& program, absl::Span<const TensorRef> inputs,
                          const CallOptions& options) const {
  return Call(Request::Run(program, inputs), options);
}

}  // namespace client
}  // namespace gpucall
