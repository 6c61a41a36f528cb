#include "client/cpp/tensor_owner.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "gpucall/tensor_handle.h"
#include "gpucall/v1/tensors.pb.h"

namespace gpucall {
inline namespace client {
namespace {

// A Free in flight. Owned by its completion.
struct PendingFree {
  std::shared_ptr<Connection> connection;
  grpc::ClientContext context;
  grpc::ByteBuffer request, reply;
};

}  // namespace

TensorOwner::~TensorOwner() {
  v1::FreeRequest request;
  request.add_handles(id_);
  const grpc::Slice slice(request.SerializeAsString());
  auto* pending = new PendingFree;
  pending->connection = std::move(connection_);
  pending->request = grpc::ByteBuffer(&slice, 1);
  pending->connection->calls.UnaryCall(
      &pending->context, "/gpucall.v1.Tensors/Free", {}, &pending->request, &pending->reply,
      [pending](const grpc::Status&) {  // where it fails the tensor goes with the session
        const OnCallbackThread here;
        const std::unique_ptr<PendingFree> owned(pending);
        const std::shared_ptr<Connection> last = owned->connection;
      });
}

absl::string_view TensorHandle::id() const {
  return owner_ == nullptr ? absl::string_view() : owner_->id();
}

TensorRef::TensorRef(const TensorHandle& handle)
    : TensorRef(handle.dtype(), handle.shape(), handle.id()) {
  is_resident_ = true;
}

}  // namespace client
}  // namespace gpucall
