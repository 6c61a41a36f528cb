#include "gpucall/client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/call.h"
#include "client/cpp/channel.h"
#include "client/cpp/connection.h"
#include "client/cpp/encoded_request.h"
#include "client/cpp/residents.h"
#include "client/cpp/shared_call.h"
#include "client/cpp/wire.h"

namespace gpucall {
inline namespace client {
namespace {

absl::StatusOr<Tensor> OneOutput(Client::Reply reply) {
  if (!reply.ok()) return std::move(reply).status();
  if (reply->size() != 1) return absl::InternalError("the server's reply has no output");
  return std::move(reply->front());
}

}  // namespace

absl::StatusOr<Client> Connect(absl::string_view target, const ConnectOptions& options) {
  if (target.empty()) return absl::InvalidArgumentError("target is empty, use host or host:port");
  const std::shared_ptr<Connection> connection(
      new Connection(FullTarget(target), ArenaOf(target), options), Connection::Delete);
  if (options.connect_deadline > absl::ZeroDuration() &&
      !connection->channel->WaitForConnected(
          absl::ToChronoTime(absl::Now() + options.connect_deadline))) {
    return absl::UnavailableError(absl::StrCat("no connection to ", target, " within ",
                                               absl::FormatDuration(options.connect_deadline)));
  }
  return Client(connection);
}

absl::StatusOr<Tensor> Client::SharedTensor(DType dtype, Shape shape) const {
  const absl::StatusOr<size_t> size_bytes = SizeBytes(dtype, shape);
  if (!size_bytes.ok()) return size_bytes.status();
  if (connection_->arena != nullptr) {
    if (std::shared_ptr<char> data = connection_->arena->Take(*size_bytes)) {
      return Tensor::FromMemory(dtype, std::move(shape), Memory(std::move(data), *size_bytes));
    }
  }
  return Tensor::Uninitialized(dtype, std::move(shape));
}

Client::Reply Client::Call(const Request& request, const CallOptions& options) const {
  return CallOwned(connection_, request.encoded_, options);
}

void Client::Start(const Request& request, Callback callback, const CallOptions& options) const {
  StartOwned(connection_, request.encoded_, options, std::move(callback));
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

absl::StatusOr<TensorHandle> Client::Put(const TensorRef& tensor,
                                         const CallOptions& options) const {
  return PutTensor(connection_, tensor, options, absl::Now() + options.deadline);
}
absl::StatusOr<Tensor> Client::Get(const TensorHandle& handle, const CallOptions& options) const {
  return GetTensor(*connection_, handle, options, absl::Now() + options.deadline);
}
absl::StatusOr<std::vector<TensorHandle>> Client::CallAndKeep(const Request& request,
                                                              const CallOptions& options) const {
  return CallKept(connection_, *request.encoded_, options, absl::Now() + options.deadline);
}

absl::StatusOr<ServerInfo> Client::Info(const CallOptions& options) const {
  CallContext context(absl::Now() + options.deadline, options.stop);
  v1::ServerInfo info;
  const grpc::Status status = connection_->server.GetInfo(context.get(), {}, &info);
  if (!status.ok()) return ToAbsl(status);
  return FromWire(info);
}

absl::StatusOr<std::vector<CatalogueEntry>> Client::Catalogue(const CallOptions& options) const {
  CallContext context(absl::Now() + options.deadline, options.stop);
  v1::Catalogue catalogue;
  const grpc::Status status = connection_->server.GetCatalogue(context.get(), {}, &catalogue);
  if (!status.ok()) return ToAbsl(status);
  return FromWire(catalogue);
}

absl::StatusOr<Tensor> Client::Elementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs,
                                           const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeElementwise(op, inputs), options));
}
absl::StatusOr<Tensor> Client::Cast(const TensorRef& x, DType dtype,
                                    const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeCast(x, dtype), options));
}
absl::StatusOr<Tensor> Client::MatMul(const TensorRef& a, const TensorRef& b,
                                      const MatMulOptions& matmul,
                                      const CallOptions& options) const {
  return MatMul({a, b}, matmul, options);
}
absl::StatusOr<Tensor> Client::MatMul(absl::Span<const TensorRef> operands,
                                      const MatMulOptions& matmul,
                                      const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeMatMul(operands, matmul), options));
}
absl::StatusOr<Tensor> Client::Gaussian(const TensorRef& image, const GaussianOptions& filter,
                                        const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::Box(const TensorRef& image, const BoxOptions& filter,
                                   const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::Sobel(const TensorRef& image, const SobelOptions& filter,
                                     const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::Laplacian(const TensorRef& image, const LaplacianOptions& filter,
                                         const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::Median(const TensorRef& image, const MedianOptions& filter,
                                      const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::Correlate(const TensorRef& image, const TensorRef& kernel,
                                         const CorrelateOptions& filter,
                                         const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image, kernel}, filter), options));
}
absl::StatusOr<Tensor> Client::Convolve(const TensorRef& image, const TensorRef& kernel,
                                        const ConvolveOptions& filter,
                                        const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image, kernel}, filter), options));
}
absl::StatusOr<Tensor> Client::Correlate1d(const TensorRef& image, const Correlate1dOptions& filter,
                                           const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::Convolve1d(const TensorRef& image, const Convolve1dOptions& filter,
                                          const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::BinaryMorphology(const TensorRef& image,
                                                const BinaryMorphologyOptions& filter,
                                                const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeFilter({image}, filter), options));
}
absl::StatusOr<Tensor> Client::Sort(const TensorRef& x, const SortOptions& sort,
                                    const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeSort(x, sort), options));
}
absl::StatusOr<Tensor> Client::Scan(const TensorRef& x, const ScanOptions& scan,
                                    const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeScan(x, scan), options));
}
absl::StatusOr<Tensor> Client::Take(const TensorRef& x, const TensorRef& indices,
                                    const TakeOptions& take, const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeTake(x, indices, take), options));
}
absl::StatusOr<Tensor> Client::Network(absl::Span<const TensorRef> operands,
                                       const NetworkOptions& network,
                                       const CallOptions& options) const {
  return OneOutput(CallBorrowed(connection_, EncodeNetwork(operands, network), options));
}
absl::StatusOr<Client::TopKTensors> Client::TopK(const TensorRef& x, int64_t k,
                                                 const TopKOptions& top_k,
                                                 const CallOptions& options) const {
  Program program(1);
  const Program::TopKValues top = program.TopK(program.input(0), k, top_k);
  program.Output(top.values);
  program.Output(top.indices);
  Reply reply = Run(program, {x}, options);
  if (!reply.ok()) return std::move(reply).status();
  if (reply->size() != 2) return absl::InternalError("the server's reply has no two outputs");
  return TopKTensors{std::move((*reply)[0]), std::move((*reply)[1])};
}
Client::Reply Client::Run(const Program& program, absl::Span<const TensorRef> inputs,
                          const CallOptions& options) const {
  return CallBorrowed(connection_, EncodeRun(program, inputs), options);
}

}  // namespace client
}  // namespace gpucall
