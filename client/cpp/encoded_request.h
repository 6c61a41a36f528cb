// What a Request holds.
#ifndef GPUCALL_CLIENT_CPP_ENCODED_REQUEST_H_
#define GPUCALL_CLIENT_CPP_ENCODED_REQUEST_H_

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gpucall/request.h"

namespace gpucall {
inline namespace client {

struct Request::Encoded {
  Encoded(std::string method, absl::StatusOr<grpc::ByteBuffer> message)
      : method(std::move(method)), message(std::move(message)) {}

  std::string method;                        // "/gpucall.v1.Compute/Run"
  absl::StatusOr<grpc::ByteBuffer> message;  // an error is the call's result
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_ENCODED_REQUEST_H_
