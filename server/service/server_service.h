// The Server service: what this server is and what it offers.
#ifndef GPUCALL_SERVER_SERVICE_SERVER_SERVICE_H_
#define GPUCALL_SERVER_SERVICE_SERVER_SERVICE_H_

#include <utility>

#include "gpucall/v1/server.grpc.pb.h"
#include "server/device/device.h"
#include "server/store/tensor_store.h"

namespace gpucall {

// The Catalogue message for server/program's catalogue.
v1::Catalogue MakeCatalogueMessage();

class ServerService final : public v1::Server::CallbackService {
 public:
  // `store` and `device` outlive the gRPC server.
  ServerService(const TensorStore& store, const Device& device, v1::ServerInfo info)
      : store_(store),
        device_(device),
        info_(std::move(info)),
        catalogue_(MakeCatalogueMessage()) {}

  grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* context,
                                    const v1::GetInfoRequest* request,
                                    v1::ServerInfo* reply) override;
  grpc::ServerUnaryReactor* GetCatalogue(grpc::CallbackServerContext* context,
                                         const v1::GetCatalogueRequest* request,
                                         v1::Catalogue* reply) override;

  grpc::ServerUnaryReactor* GetStatistics(grpc::CallbackServerContext* context,
                                          const v1::GetStatisticsRequest* request,
                                          v1::Statistics* reply) override;

 private:
  const TensorStore& store_;
  const Device& device_;
  const v1::ServerInfo info_;
  const v1::Catalogue catalogue_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_SERVER_SERVICE_H_
