// Who frees a tensor on a server.
#ifndef GPUCALL_CLIENT_CPP_TENSOR_OWNER_H_
#define GPUCALL_CLIENT_CPP_TENSOR_OWNER_H_

#include <memory>
#include <string>
#include <utility>

#include "client/cpp/connection.h"

namespace gpucall {
inline namespace client {

// Frees it when destroyed, and does not wait for that.
class TensorOwner {
 public:
  TensorOwner(std::shared_ptr<Connection> connection, std::string id)
      : connection_(std::move(connection)), id_(std::move(id)) {}
  ~TensorOwner();
  TensorOwner(const TensorOwner&) = delete;
  TensorOwner& operator=(const TensorOwner&) = delete;

  const std::string& id() const { return id_; }

 private:
  std::shared_ptr<Connection> connection_;
  const std::string id_;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_TENSOR_OWNER_H_
