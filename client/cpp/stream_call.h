// A call through RunStream.
#ifndef GPUCALL_CLIENT_CPP_STREAM_CALL_H_
#define GPUCALL_CLIENT_CPP_STREAM_CALL_H_

#include <memory>

#include "absl/time/time.h"
#include "client/cpp/connection.h"
#include "client/cpp/encoded_request.h"
#include "gpucall/client.h"

namespace gpucall {
inline namespace client {

// Returns at once; `callback` runs exactly once, on a thread of gRPC. Of options the deadline is
// not read but given as a time. Holds no more of the elements in gRPC than its flow control lets
// through, and reads the reply while it sends.
void StartStream(std::shared_ptr<Connection> connection,
                 std::shared_ptr<const EncodedRequest> request, const CallOptions& options,
                 absl::Time deadline, Client::Callback callback);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_STREAM_CALL_H_
