// Replies to the wire.
#ifndef GPUCALL_SERVER_SERVICE_ENCODE_H_
#define GPUCALL_SERVER_SERVICE_ENCODE_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/host_bytes.h"
#include "server/scheduler/task.h"
#include "server/service/regions.h"

namespace gpucall {

enum class WantReceipt { kNo, kYes };

// The bytes of a RunReply; those of a ComputeReply where there is one output, since the two agree
// on the wire. `handles`, by output: those of outputs that are kept, empty for the others.
grpc::ByteBuffer EncodeReply(const Plan& plan, const TaskResult& result,
                             absl::Span<const std::string> handles, const PlacedOutputs& placed,
                             WantReceipt want_receipt, absl::string_view device);

// A RunStreamReply that holds the result: what the outputs are. `handles` as above.
grpc::ByteBuffer EncodeStreamResult(const Plan& plan, absl::Span<const std::string> handles);
// A RunStreamReply that holds the receipt.
grpc::ByteBuffer EncodeStreamReceipt(const TaskResult& result, absl::string_view device);
// A RunStreamReply that holds a chunk.
grpc::ByteBuffer EncodeChunk(uint32_t tensor, int64_t offset, const HostBytes& data,
                             std::optional<uint32_t> crc32);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_ENCODE_H_
