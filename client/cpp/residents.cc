#include "client/cpp/residents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/channel.h"
#include "client/cpp/tensor_owner.h"
#include "client/cpp/tensor_ranges.h"
#include "client/cpp/unary_call.h"
#include "client/cpp/wire.h"
#include "gpucall/v1/tensors.grpc.pb.h"

namespace gpucall {
inline namespace client {
namespace {

// Calls act(session) with the connection's session, and once more with another where the server has
// forgotten that one.
template <typename Act>
auto InSession(Connection& connection, Act act) -> decltype(act(std::string())) {
  absl::StatusOr<std::string> session = connection.session.id();
  if (!session.ok()) return session.status();
  auto result = act(*session);
  if (result.status().code() != absl::StatusCode::kNotFound ||
      !absl::StartsWith(result.status().message(), "session: ")) {
    return result;
  }
  connection.session.Forget(*session);
  session = connection.session.id();
  if (!session.ok()) return session.status();
  return act(*session);
}

absl::StatusOr<TensorHandle> HandleOf(const std::shared_ptr<Connection>& connection,
                                      const v1::Tensor& tensor) {
  absl::StatusOr<TensorType> type = DecodeHeader(tensor);
  if (!type.ok()) return type.status();
  return TensorHandle(std::make_shared<const TensorOwner>(connection, tensor.handle()), type->dtype,
                      std::move(type->shape));
}

absl::StatusOr<std::vector<TensorHandle>> SendKept(const std::shared_ptr<Connection>& connection,
                                                   const EncodedRequest& request,
                                                   const CallOptions& options,
                                                   absl::Time deadline) {
  const absl::StatusOr<grpc::ByteBuffer> bytes = SendUnary(*connection, request, options, deadline);
  if (!bytes.ok()) return bytes.status();
  grpc::Slice slice;
  v1::RunReply reply;
  if (!bytes->DumpToSingleSlice(&slice).ok() ||
      !reply.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) {
    return BadReply("is not a gpucall reply");
  }
  std::vector<TensorHandle> handles;
  for (const v1::Tensor& tensor : reply.outputs()) {
    absl::StatusOr<TensorHandle> handle = HandleOf(connection, tensor);
    if (!handle.ok()) return handle.status();
    handles.push_back(*std::move(handle));
  }
  if (options.receipt != nullptr) FromWire(reply.receipt(), *options.receipt);
  return handles;
}

absl::StatusOr<TensorHandle> PutInChunks(const std::shared_ptr<Connection>& connection,
                                         const TensorRef& tensor, const std::string& session,
                                         const CallOptions& options, absl::Time deadline) {
  v1::Tensors::Stub tensors(connection->channel);
  v1::CreateRequest request;
  request.set_dtype(static_cast<v1::DType>(tensor.dtype()));
  request.mutable_shape()->Add(tensor.shape().begin(), tensor.shape().end());
  request.set_session(session);
  v1::ResidentTensor created;
  {
    CallContext context(deadline, options.stop);
    const grpc::Status status = tensors.Create(context.get(), request, &created);
    if (!status.ok()) return ToAbsl(status);
  }
  TensorHandle handle(std::make_shared<const TensorOwner>(connection, created.handle()),
                      tensor.dtype(), tensor.shape());
  const absl::Status status =
      WriteTensor(*connection, created.handle(), tensor.bytes(), options, deadline);
  if (!status.ok()) return status;
  return handle;
}

}  // namespace

absl::StatusOr<TensorHandle> PutTensor(const std::shared_ptr<Connection>& connection,
                                       const TensorRef& tensor, const CallOptions& options,
                                       absl::Time deadline) {
  return InSession(*connection, [&](const std::string& session) -> absl::StatusOr<TensorHandle> {
    if (static_cast<int64_t>(tensor.bytes().size()) > connection->options.stream_bytes) {
      return PutInChunks(connection, tensor, session, options, deadline);
    }
    v1::PutRequest message;
    message.mutable_options()->set_session(session);
    const EncodedRequest request = {.method = "/gpucall.v1.Tensors/Put",
                                    .rest = message.SerializeAsString(),
                                    .fields = {v1::PutRequest::kTensorFieldNumber},
                                    .inputs = {tensor},
                                    .program = {},
                                    .owner = std::make_shared<const char>(),
                                    .is_borrowed = true};
    auto handles = SendKept(connection, request, options, deadline);
    if (!handles.ok()) return handles.status();
    if (handles->size() != 1) return BadReply("has no tensor");
    return std::move(handles->front());
  });
}

absl::StatusOr<Tensor> GetTensor(Connection& connection, const TensorHandle& handle,
                                 const CallOptions& options, absl::Time deadline) {
  const absl::StatusOr<size_t> size_bytes = SizeBytes(handle.dtype(), handle.shape());
  if (!size_bytes.ok()) return size_bytes.status();
  if (static_cast<int64_t>(*size_bytes) > connection.options.stream_bytes) {
    absl::StatusOr<Tensor> tensor = Tensor::Uninitialized(handle.dtype(), handle.shape());
    if (!tensor.ok()) return tensor.status();
    const absl::Status status =
        ReadTensor(connection, std::string(handle.id()), {tensor->mutable_data(), *size_bytes},
                   options, deadline);
    if (!status.ok()) return status;
    return tensor;
  }
  v1::GetRequest message;
  message.set_handle(std::string(handle.id()));
  const EncodedRequest request = {.method = "/gpucall.v1.Tensors/Get",
                                  .rest = message.SerializeAsString(),
                                  .fields = {},
                                  .inputs = {},
                                  .program = {},
                                  .owner = nullptr};
  Client::Reply reply = CallUnary(connection, request, options, deadline);
  if (!reply.ok()) return reply.status();
  if (reply->size() != 1) return BadReply("has no tensor");
  return std::move(reply->front());
}

absl::StatusOr<EncodedRequest> PutLargeInputs(const std::shared_ptr<Connection>& connection,
                                              EncodedRequest request, const CallOptions& options,
                                              absl::Time deadline, std::vector<TensorHandle>& put) {
  if (request.InputBytes() <= connection->options.stream_bytes) return request;
  put.reserve(request.inputs.size());  // the request refers to its entries
  for (TensorRef& input : request.inputs) {
    if (input.is_resident()) continue;
    absl::StatusOr<TensorHandle> handle = PutTensor(connection, input, options, deadline);
    if (!handle.ok()) return handle.status();
    input = TensorRef(put.emplace_back(*std::move(handle)));
  }
  return request;
}

absl::StatusOr<std::vector<TensorHandle>> CallKept(const std::shared_ptr<Connection>& connection,
                                                   const EncodedRequest& request,
                                                   const CallOptions& options,
                                                   absl::Time deadline) {
  std::vector<TensorHandle> put;
  const absl::StatusOr<EncodedRequest> sent =
      PutLargeInputs(connection, request, options, deadline, put);
  if (!sent.ok()) return sent.status();
  return InSession(*connection, [&](const std::string& session) {
    v1::RunRequest kept;  // every request has `options` at one number
    kept.mutable_options()->set_session(session);
    const int outputs = std::max(request.program.outputs_size(), 1);
    for (int i = 0; i < outputs; ++i) {
      kept.mutable_options()->add_keep_outputs(static_cast<uint32_t>(i));
    }
    EncodedRequest whole = *sent;
    absl::StrAppend(&whole.rest, kept.SerializeAsString());
    return SendKept(connection, whole, options, deadline);
  });
}

}  // namespace client
}  // namespace gpucall
