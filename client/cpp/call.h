// Calls by the form that suits them: unary, or RunStream where there is much to move.
#ifndef GPUCALL_CLIENT_CPP_CALL_H_
#define GPUCALL_CLIENT_CPP_CALL_H_

#include <memory>

#include "client/cpp/connection.h"
#include "client/cpp/encoded_request.h"
#include "gpucall/client.h"

namespace gpucall {
inline namespace client {

// Blocks.
Client::Reply CallOwned(const std::shared_ptr<Connection>& connection,
                        std::shared_ptr<const EncodedRequest> request, const CallOptions& options);

// Blocks, also until gRPC has let go of the elements, which stay in the caller's memory: where the
// call ends early while they are being sent, until the connection moves on or fails.
Client::Reply CallBorrowed(const std::shared_ptr<Connection>& connection, EncodedRequest request,
                           const CallOptions& options);

// Returns at once; `callback` runs exactly once.
void StartOwned(std::shared_ptr<Connection> connection,
                std::shared_ptr<const EncodedRequest> request, const CallOptions& options,
                Client::Callback callback);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_CALL_H_
