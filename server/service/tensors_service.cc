#include "server/service/tensors_service.h"

#include "server/service/caller.h"
#include "server/service/compute_call.h"
#include "server/service/grpc_status.h"
#include "server/service/resident_calls.h"
#include "server/service/tensor_streams.h"

namespace gpucall {
namespace {

// Answers a call at once with what `act` does.
template <typename Act>
grpc::ServerUnaryReactor* Answer(const ComputeService& compute,
                                 grpc::CallbackServerContext& context, Act act) {
  ResidentCalls calls(compute.store(), compute.device(), TenantOf(context),
                      std::chrono::steady_clock::now());
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(ToGrpcStatus(act(calls)));
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* TensorsService::Put(Context* context, const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* reply) {
  return StartComputeCall(compute_, *context, *request, reply, DecodePutRequest);
}

grpc::ServerUnaryReactor* TensorsService::Get(Context* context, const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* reply) {
  return StartComputeCall(compute_, *context, *request, reply, DecodeGetRequest);
}

grpc::ServerReadReactor<grpc::ByteBuffer>* TensorsService::Write(Context* context,
                                                                 grpc::ByteBuffer* reply) {
  return StartTensorWrite(compute_, *context, reply);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* TensorsService::Read(Context* context,
                                                                 const grpc::ByteBuffer* request) {
  return StartTensorRead(compute_, *context, *request);
}

grpc::ServerUnaryReactor* TensorsService::Create(Context* context, const v1::CreateRequest* request,
                                                 v1::ResidentTensor* reply) {
  return Answer(compute_, *context, [&](ResidentCalls& calls) {
    return calls.Create(*request, compute_.limits().max_streamed_bytes, *reply);
  });
}

grpc::ServerUnaryReactor* TensorsService::View(Context* context, const v1::ViewRequest* request,
                                               v1::ResidentTensor* reply) {
  return Answer(compute_, *context,
                [&](ResidentCalls& calls) { return calls.View(*request, *reply); });
}

grpc::ServerUnaryReactor* TensorsService::Stat(Context* context, const v1::StatRequest* request,
                                               v1::ResidentTensor* reply) {
  return Answer(compute_, *context,
                [&](ResidentCalls& calls) { return calls.Stat(*request, *reply); });
}

grpc::ServerUnaryReactor* TensorsService::List(Context* context, const v1::ListRequest* request,
                                               v1::ListReply* reply) {
  return Answer(compute_, *context,
                [&](ResidentCalls& calls) { return calls.List(*request, *reply); });
}

grpc::ServerUnaryReactor* TensorsService::Free(Context* context, const v1::FreeRequest* request,
                                               v1::FreeReply*) {
  return Answer(compute_, *context, [&](ResidentCalls& calls) { return calls.Free(*request); });
}

grpc::ServerUnaryReactor* TensorsService::KeepAlive(Context* context,
                                                    const v1::KeepAliveRequest* request,
                                                    v1::KeepAliveReply* reply) {
  return Answer(compute_, *context,
                [&](ResidentCalls& calls) { return calls.KeepAlive(*request, *reply); });
}

grpc::ServerWriteReactor<v1::Session>* TensorsService::OpenSession(
    Context* context, const v1::OpenSessionRequest* request) {
  return StartSession(compute_, *context, *request);
}

grpc::ServerUnaryReactor* TensorsService::EndSession(Context* context,
                                                     const v1::EndSessionRequest* request,
                                                     v1::EndSessionReply*) {
  return Answer(compute_, *context,
                [&](ResidentCalls& calls) { return calls.EndSession(*request); });
}

}  // namespace gpucall
