// The Tensors service: tensors that stay on the server. Decides nothing.
#ifndef GPUCALL_SERVER_SERVICE_TENSORS_SERVICE_H_
#define GPUCALL_SERVER_SERVICE_TENSORS_SERVICE_H_

#include "gpucall/v1/tensors.grpc.pb.h"
#include "server/service/compute_service.h"

namespace gpucall {

// Put and Get are tasks, so that nothing here waits for a device.
class TensorsService final
    : public v1::Tensors::WithRawCallbackMethod_Put<
          v1::Tensors::WithRawCallbackMethod_Get<v1::Tensors::WithRawCallbackMethod_Write<
              v1::Tensors::WithRawCallbackMethod_Read<v1::Tensors::WithCallbackMethod_Create<
                  v1::Tensors::WithCallbackMethod_View<v1::Tensors::WithCallbackMethod_Stat<
                      v1::Tensors::WithCallbackMethod_List<v1::Tensors::WithCallbackMethod_Free<
                          v1::Tensors::WithCallbackMethod_KeepAlive<
                              v1::Tensors::WithCallbackMethod_OpenSession<
                                  v1::Tensors::WithCallbackMethod_EndSession<
                                      v1::Tensors::Service>>>>>>>>>>>> {
 public:
  // `compute` outlives the gRPC server.
  explicit TensorsService(const ComputeService& compute) : compute_(compute) {}

  using Context = grpc::CallbackServerContext;

  grpc::ServerUnaryReactor* Put(Context* context, const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Get(Context* context, const grpc::ByteBuffer* request,
                                grpc::ByteBuffer* reply) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* Write(Context* context,
                                                   grpc::ByteBuffer* reply) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Read(Context* context,
                                                   const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* Create(Context* context, const v1::CreateRequest* request,
                                   v1::ResidentTensor* reply) override;
  grpc::ServerUnaryReactor* View(Context* context, const v1::ViewRequest* request,
                                 v1::ResidentTensor* reply) override;
  grpc::ServerUnaryReactor* Stat(Context* context, const v1::StatRequest* request,
                                 v1::ResidentTensor* reply) override;
  grpc::ServerUnaryReactor* List(Context* context, const v1::ListRequest* request,
                                 v1::ListReply* reply) override;
  grpc::ServerUnaryReactor* Free(Context* context, const v1::FreeRequest* request,
                                 v1::FreeReply* reply) override;
  grpc::ServerUnaryReactor* KeepAlive(Context* context, const v1::KeepAliveRequest* request,
                                      v1::KeepAliveReply* reply) override;
  grpc::ServerWriteReactor<v1::Session>* OpenSession(
      Context* context, const v1::OpenSessionRequest* request) override;
  grpc::ServerUnaryReactor* EndSession(Context* context, const v1::EndSessionRequest* request,
                                       v1::EndSessionReply* reply) override;

 private:
  const ComputeService& compute_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_TENSORS_SERVICE_H_
