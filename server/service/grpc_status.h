// absl::Status to gRPC.
#ifndef GPUCALL_SERVER_SERVICE_GRPC_STATUS_H_
#define GPUCALL_SERVER_SERVICE_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace gpucall {

// Same code, same message; messages past 1000 bytes are cut.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_GRPC_STATUS_H_
