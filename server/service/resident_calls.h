// What the unary methods of Tensors do, apart from gRPC.
#ifndef GPUCALL_SERVER_SERVICE_RESIDENT_CALLS_H_
#define GPUCALL_SERVER_SERVICE_RESIDENT_CALLS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpucall/v1/tensors.pb.h"
#include "server/device/device.h"
#include "server/store/tensor_store.h"

namespace gpucall {

// The message for what the store says of a tensor on `device`, at `now`.
void SetInfo(const TensorStore::Info& info, const Device& device, TensorStore::Time now,
             v1::ResidentTensor& message);

// Of one caller, at one time. Errors as proto/gpucall/v1/tensors.proto has them.
class ResidentCalls {
 public:
  ResidentCalls(TensorStore& store, Device& device, std::string tenant, TensorStore::Time now)
      : store_(store), device_(device), tenant_(std::move(tenant)), now_(now) {}

  // max_size_bytes: of the tensor.
  absl::Status Create(const v1::CreateRequest& request, int64_t max_size_bytes,
                      v1::ResidentTensor& reply);
  absl::Status View(const v1::ViewRequest& request, v1::ResidentTensor& reply);
  absl::Status Stat(const v1::StatRequest& request, v1::ResidentTensor& reply);
  absl::Status List(const v1::ListRequest& request, v1::ListReply& reply);
  absl::Status Free(const v1::FreeRequest& request);
  absl::Status KeepAlive(const v1::KeepAliveRequest& request, v1::KeepAliveReply& reply);
  absl::Status EndSession(const v1::EndSessionRequest& request);

 private:
  absl::Status Describe(const absl::StatusOr<Handle>& handle, v1::ResidentTensor& reply);

  TensorStore& store_;
  Device& device_;
  const std::string tenant_;
  const TensorStore::Time now_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_RESIDENT_CALLS_H_
