// Calls whose tensors go through memory that is shared with the server.
#ifndef GPUCALL_CLIENT_CPP_SHARED_CALL_H_
#define GPUCALL_CLIENT_CPP_SHARED_CALL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/cpp/arena.h"
#include "client/cpp/encoded_request.h"

namespace gpucall {
inline namespace client {

// For a target that is a Unix socket, beside which the server has another; else null.
std::shared_ptr<Arena> ArenaOf(absl::string_view target);

// The request with its large inputs in the arena, copied there where need be, and with a place for
// its results. Null: all are small, or there is no room. `arena` may be null.
std::unique_ptr<const EncodedRequest> ShareTensors(const std::shared_ptr<Arena>& arena,
                                                   const EncodedRequest& request);

// Takes note of how such a call ended. True: it can be made without shared memory.
bool EndSharedCall(Arena& arena, const EncodedRequest& request, const absl::Status& status);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_SHARED_CALL_H_
