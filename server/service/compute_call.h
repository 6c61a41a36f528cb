// Calls of one request and one reply.
#ifndef GPUCALL_SERVER_SERVICE_COMPUTE_CALL_H_
#define GPUCALL_SERVER_SERVICE_COMPUTE_CALL_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/service/compute_service.h"
#include "server/service/decode.h"

namespace gpucall {

// Serves one call as a task, and deletes itself when it is over. `decode` is one of decode.h; the
// reply is a RunReply, or what agrees with it on the wire.
using DecodeRequest = absl::StatusOr<DecodedCall> (*)(absl::Span<const grpc::Slice> request,
                                                      TensorSources& sources);
grpc::ServerUnaryReactor* StartComputeCall(const ComputeService& service,
                                           const grpc::CallbackServerContext& context,
                                           const grpc::ByteBuffer& request, grpc::ByteBuffer* reply,
                                           DecodeRequest decode);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_COMPUTE_CALL_H_
