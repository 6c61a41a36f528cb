// The streams of the Tensors service.
#ifndef GPUCALL_SERVER_SERVICE_TENSOR_STREAMS_H_
#define GPUCALL_SERVER_SERVICE_TENSOR_STREAMS_H_

#include <grpcpp/grpcpp.h>

#include "gpucall/v1/tensors.pb.h"
#include "server/service/compute_service.h"

namespace gpucall {

// Each serves one call, and deletes itself when it is over.
grpc::ServerReadReactor<grpc::ByteBuffer>* StartTensorWrite(
    const ComputeService& service, const grpc::CallbackServerContext& context,
    grpc::ByteBuffer* reply);
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartTensorRead(
    const ComputeService& service, const grpc::CallbackServerContext& context,
    const grpc::ByteBuffer& request);
grpc::ServerWriteReactor<v1::Session>* StartSession(const ComputeService& service,
                                                    const grpc::CallbackServerContext& context,
                                                    const v1::OpenSessionRequest& request);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_TENSOR_STREAMS_H_
