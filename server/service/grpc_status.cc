#include "server/service/grpc_status.h"

#include <string>

namespace gpucall {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  constexpr size_t kMaxMessage = 1000;
  // The two libraries number their codes alike.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message().substr(0, kMaxMessage)));
}

}  // namespace gpucall
