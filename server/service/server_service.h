// The Server service: what this server is and what it offers.
#ifndef GPUCALL_SERVER_SERVICE_SERVER_SERVICE_H_
#define GPUCALL_SERVER_SERVICE_SERVER_SERVICE_H_

#include <utility>

#include "gpucall/v1/server.grpc.pb.h"

namespace gpucall {

// The Catalogue message for server/program's catalogue.
v1::Catalogue MakeCatalogueMessage();

class ServerService final : public v1::Server::CallbackService {
 public:
  explicit ServerService(v1::ServerInfo info)
      : info_(std::move(info)), catalogue_(MakeCatalogueMessage()) {}

  grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* context,
                                    const v1::GetInfoRequest* request,
                                    v1::ServerInfo* reply) override;
  grpc::ServerUnaryReactor* GetCatalogue(grpc::CallbackServerContext* context,
                                         const v1::GetCatalogueRequest* request,
                                         v1::Catalogue* reply) override;

 private:
  const v1::ServerInfo info_;
  const v1::Catalogue catalogue_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_SERVER_SERVICE_H_
