// A call as one message each way.
#ifndef GPUCALL_CLIENT_CPP_UNARY_CALL_H_
#define GPUCALL_CLIENT_CPP_UNARY_CALL_H_

#include <memory>

#include "absl/time/time.h"
#include "client/cpp/connection.h"
#include "client/cpp/encoded_request.h"
#include "gpucall/client.h"

namespace gpucall {
inline namespace client {

// Blocks. Of options the deadline is not read but given as a time.
Client::Reply CallUnary(Connection& connection, const EncodedRequest& request,
                        const CallOptions& options, absl::Time deadline);

// The same with the reply as it came.
absl::StatusOr<grpc::ByteBuffer> SendUnary(Connection& connection, const EncodedRequest& request,
                                           const CallOptions& options, absl::Time deadline);

// Returns at once; `callback` runs exactly once, here if the request cannot be sent, else on a
// thread of gRPC.
void StartUnary(std::shared_ptr<Connection> connection, const EncodedRequest& request,
                const CallOptions& options, absl::Time deadline, Client::Callback callback);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_UNARY_CALL_H_
