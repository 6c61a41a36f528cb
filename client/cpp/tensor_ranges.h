// All bytes of a large tensor to a server or back: in ranges, each on a connection of its own.
#ifndef GPUCALL_CLIENT_CPP_TENSOR_RANGES_H_
#define GPUCALL_CLIENT_CPP_TENSOR_RANGES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/cpp/connection.h"
#include "gpucall/client.h"

namespace gpucall {
inline namespace client {

// To a tensor that was created, none of whose bytes have come. Once one range fails the others are
// cancelled; the error is that of the first. Nothing refers to `bytes` any more on return.
absl::Status WriteTensor(Connection& connection, const std::string& handle, absl::string_view bytes,
                         const CallOptions& options, absl::Time deadline);
// `bytes`: as many as the tensor has.
absl::Status ReadTensor(Connection& connection, const std::string& handle, absl::Span<char> bytes,
                        const CallOptions& options, absl::Time deadline);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_TENSOR_RANGES_H_
