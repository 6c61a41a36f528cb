#include "server/service/compute_service.h"

#include "server/service/compute_call.h"
#include "server/service/run_stream.h"

namespace gpucall {

grpc::ServerUnaryReactor* ComputeService::Elementwise(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeElementwiseRequest);
}

grpc::ServerUnaryReactor* ComputeService::MatMul(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeMatMulRequest);
}

grpc::ServerUnaryReactor* ComputeService::Filter(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeFilterRequest);
}

grpc::ServerUnaryReactor* ComputeService::Reduce(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeReduceRequest);
}

grpc::ServerUnaryReactor* ComputeService::Rearrange(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeRearrangeRequest);
}

grpc::ServerUnaryReactor* ComputeService::Sort(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeSortRequest);
}

grpc::ServerUnaryReactor* ComputeService::Scan(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeScanRequest);
}

grpc::ServerUnaryReactor* ComputeService::Network(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeNetworkRequest);
}

grpc::ServerUnaryReactor* ComputeService::Take(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeTakeRequest);
}

grpc::ServerUnaryReactor* ComputeService::Image(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeImageRequest);
}

grpc::ServerUnaryReactor* ComputeService::Run(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* reply) {
  return StartComputeCall(*this, *context, *request, reply, DecodeRunRequest);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ComputeService::RunStream(
    grpc::CallbackServerContext* context) {
  return StartRunStream(*this, *context);
}

}  // namespace gpucall
