#include "server/service/resident_calls.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/caller.h"
#include "server/service/decode_operation.h"
#include "server/store/held_buffer.h"
#include "server/store/view.h"
#include "server/store/views.h"

namespace gpucall {
namespace {

template <typename Field>
absl::Span<const typename Field::value_type> SpanOf(const Field& field) {
  return {field.data(), static_cast<size_t>(field.size())};
}

absl::StatusOr<ViewType> ViewOf(const TensorType& type, const v1::ViewRequest& request) {
  switch (request.kind_case()) {
    case v1::ViewRequest::kReshape:
      return ReshapeView(type, SpanOf(request.reshape().shape()));
    case v1::ViewRequest::kSlice:
      return SliceView(type, SpanOf(request.slice().start()), SpanOf(request.slice().stop()));
    case v1::ViewRequest::kTranspose:
      return TransposeView(type, SpanOf(request.transpose().axes()));
    case v1::ViewRequest::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "view: kind is not set, allowed are reshape, slice and transpose");
}

}  // namespace

void SetInfo(const TensorStore::Info& info, const Device& device, TensorStore::Time now,
             v1::ResidentTensor& message) {
  message.set_handle(info.handle.bytes());
  message.set_dtype(static_cast<v1::DType>(info.type.dtype));
  message.mutable_shape()->Add(info.type.shape.begin(), info.type.shape.end());
  message.set_size_bytes(static_cast<uint64_t>(info.type.size_bytes()));
  message.set_readable(info.readable);
  message.set_device(device.info().id);
  if (info.session) {
    message.set_session(info.session->bytes());
  } else {
    const auto left = std::chrono::ceil<std::chrono::seconds>(info.expires - now);
    message.set_seconds_left(static_cast<uint32_t>(std::max<int64_t>(left.count(), 1)));
  }
}

absl::Status ResidentCalls::Describe(const absl::StatusOr<Handle>& handle,
                                     v1::ResidentTensor& reply) {
  GPUCALL_RETURN_IF_ERROR(handle.status());
  GPUCALL_ASSIGN_OR_RETURN(const TensorStore::Info info, store_.Stat(tenant_, *handle));
  SetInfo(info, device_, now_, reply);
  return absl::OkStatus();
}

absl::Status ResidentCalls::Create(const v1::CreateRequest& request, int64_t max_size_bytes,
                                   v1::ResidentTensor& reply) {
  TensorType type;
  GPUCALL_ASSIGN_OR_RETURN(type.dtype, DecodeDType("create", request.dtype()));
  type.shape.assign(request.shape().begin(), request.shape().end());
  GPUCALL_ASSIGN_OR_RETURN(const int64_t size_bytes,
                           CheckedSizeBytes("create", type.dtype, type.shape));
  if (size_bytes > max_size_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("create: is ", size_bytes, " bytes, allowed are ", max_size_bytes));
  }
  GPUCALL_ASSIGN_OR_RETURN(const Caller caller, CallerOf(tenant_, request.session()));
  GPUCALL_ASSIGN_OR_RETURN(Charge charge, store_.Reserve(caller, size_bytes));
  GPUCALL_ASSIGN_OR_RETURN(BufferPointer buffer, device_.Allocate(size_bytes));
  return Describe(
      store_.Create(caller, {std::move(type), Hold(std::move(buffer), std::move(charge))}, now_),
      reply);
}

absl::Status ResidentCalls::View(const v1::ViewRequest& request, v1::ResidentTensor& reply) {
  GPUCALL_ASSIGN_OR_RETURN(const Handle handle, Handle::FromBytes("handle", request.handle()));
  GPUCALL_ASSIGN_OR_RETURN(const StoredTensor tensor, store_.Find(tenant_, handle, now_));
  GPUCALL_ASSIGN_OR_RETURN(const ViewType view, ViewOf(tensor.type, request));
  GPUCALL_ASSIGN_OR_RETURN(const Caller caller, CallerOf(tenant_, request.session()));
  return Describe(AddView(store_, device_, caller, tensor, view, now_), reply);
}

absl::Status ResidentCalls::Stat(const v1::StatRequest& request, v1::ResidentTensor& reply) {
  return Describe(Handle::FromBytes("handle", request.handle()), reply);
}

absl::Status ResidentCalls::List(const v1::ListRequest& request, v1::ListReply& reply) {
  constexpr uint32_t kMaxTensors = 1000;
  const uint32_t wanted = request.max_tensors() == 0 ? kMaxTensors : request.max_tensors();
  const uint32_t count = std::min(wanted, kMaxTensors);
  std::optional<Handle> after;
  if (!request.after().empty()) {
    GPUCALL_ASSIGN_OR_RETURN(after, Handle::FromBytes("after", request.after()));
  }
  std::vector<TensorStore::Info> infos = store_.List(tenant_, after, count + 1);
  reply.set_more(infos.size() > count);
  if (reply.more()) infos.pop_back();
  for (const TensorStore::Info& info : infos) SetInfo(info, device_, now_, *reply.add_tensors());
  return absl::OkStatus();
}

absl::Status ResidentCalls::Free(const v1::FreeRequest& request) {
  absl::Status status;
  for (const std::string& bytes : request.handles()) {
    const absl::StatusOr<Handle> handle = Handle::FromBytes("handle", bytes);
    status.Update(handle.ok() ? store_.Free(tenant_, *handle) : handle.status());
  }
  return status;
}

absl::Status ResidentCalls::KeepAlive(const v1::KeepAliveRequest& request,
                                      v1::KeepAliveReply& reply) {
  absl::Status status;
  for (const std::string& bytes : request.handles()) {
    const absl::StatusOr<Handle> handle = Handle::FromBytes("handle", bytes);
    status.Update(handle.ok() ? store_.KeepAlive(tenant_, *handle, now_) : handle.status());
  }
  reply.set_seconds_left(static_cast<uint32_t>(store_.limits().time_to_live.count()));
  return status;
}

absl::Status ResidentCalls::EndSession(const v1::EndSessionRequest& request) {
  GPUCALL_ASSIGN_OR_RETURN(const Handle session, Handle::FromBytes("session", request.session()));
  return store_.EndSession(tenant_, session);
}

}  // namespace gpucall
