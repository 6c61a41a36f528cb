// Compute.RunStream: one Program whose tensors go in chunks.
#ifndef GPUCALL_SERVER_SERVICE_RUN_STREAM_H_
#define GPUCALL_SERVER_SERVICE_RUN_STREAM_H_

#include <grpcpp/grpcpp.h>

#include "server/device/device.h"
#include "server/service/compute_service.h"

namespace gpucall {

using StreamReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// Serves one call, and deletes itself when it is over.
StreamReactor* StartRunStream(const ComputeService& service, grpc::CallbackServerContext& context);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_RUN_STREAM_H_
