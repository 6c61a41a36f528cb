// Replies to the wire.
#ifndef GPUCALL_SERVER_SERVICE_ENCODE_H_
#define GPUCALL_SERVER_SERVICE_ENCODE_H_

#include <grpcpp/support/byte_buffer.h>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/scheduler/task.h"

namespace gpucall {

enum class WantReceipt { kNo, kYes };

// The bytes of a RunReply; those of a ComputeReply where there is one output, since the two agree
// on the wire. Copies the elements once, into the buffer that is sent.
grpc::ByteBuffer EncodeReply(const Plan& plan, const TaskResult& result, WantReceipt want_receipt,
                             absl::string_view device);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_ENCODE_H_
