// Tensors to a server, where they stay, and back.
#ifndef GPUCALL_CLIENT_CPP_RESIDENTS_H_
#define GPUCALL_CLIENT_CPP_RESIDENTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/connection.h"
#include "client/cpp/encoded_request.h"
#include "gpucall/client.h"

namespace gpucall {
inline namespace client {

// These block. Of options the deadline is not read but given as a time.
absl::StatusOr<TensorHandle> PutTensor(const std::shared_ptr<Connection>& connection,
                                       const TensorRef& tensor, const CallOptions& options,
                                       absl::Time deadline);
absl::StatusOr<Tensor> GetTensor(Connection& connection, const TensorHandle& handle,
                                 const CallOptions& options, absl::Time deadline);
// Puts the inputs of a request that are too large for a message; they last as long as `put`.
absl::StatusOr<EncodedRequest> PutLargeInputs(const std::shared_ptr<Connection>& connection,
                                              EncodedRequest request, const CallOptions& options,
                                              absl::Time deadline, std::vector<TensorHandle>& put);
// A call whose outputs all stay.
absl::StatusOr<std::vector<TensorHandle>> CallKept(const std::shared_ptr<Connection>& connection,
                                                   const EncodedRequest& request,
                                                   const CallOptions& options, absl::Time deadline);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_RESIDENTS_H_
