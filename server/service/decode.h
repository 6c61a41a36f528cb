// From request messages to plain structs. What is checked here is the message itself;
// server/program checks its meaning.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_H_
#define GPUCALL_SERVER_SERVICE_DECODE_H_

#include <grpcpp/support/slice.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/device/buffer.h"
#include "server/program/program.h"
#include "server/service/request_reader.h"
#include "server/service/tensor_sources.h"

namespace gpucall {

struct DecodedCall {
  Program program;
  std::vector<TensorType> types;              // of the inputs
  std::vector<Storage> inputs;                // into the request, which must outlive this
  absl::InlinedVector<bool, 4> keep_outputs;  // as in Task
  std::string session;                        // id that what is kept belongs to; empty: none
  std::optional<v1::Area> output_area;        // where results go
  bool want_receipt = false;
};

// From the bytes of a request message, which stay where they are. INVALID_ARGUMENT: not a message;
// unset or unknown enum value or oneof, shape out of range, data of the wrong length, more than two
// values for a pair. UNIMPLEMENTED: an elementwise operation unknown here. Messages name the field.
absl::StatusOr<DecodedCall> DecodeElementwiseRequest(absl::Span<const grpc::Slice> request,
                                                     TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeMatMulRequest(absl::Span<const grpc::Slice> request,
                                                TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeFilterRequest(absl::Span<const grpc::Slice> request,
                                                TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeReduceRequest(absl::Span<const grpc::Slice> request,
                                                TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeRearrangeRequest(absl::Span<const grpc::Slice> request,
                                                   TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeSortRequest(absl::Span<const grpc::Slice> bytes,
                                              TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeScanRequest(absl::Span<const grpc::Slice> bytes,
                                              TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeTakeRequest(absl::Span<const grpc::Slice> bytes,
                                              TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeNetworkRequest(absl::Span<const grpc::Slice> bytes,
                                                 TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeImageRequest(absl::Span<const grpc::Slice> bytes,
                                               TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeRunRequest(absl::Span<const grpc::Slice> request,
                                             TensorSources& sources);
// A Program that returns its input: Put keeps its output, Get sends it.
absl::StatusOr<DecodedCall> DecodePutRequest(absl::Span<const grpc::Slice> request,
                                             TensorSources& sources);
absl::StatusOr<DecodedCall> DecodeGetRequest(absl::Span<const grpc::Slice> request,
                                             TensorSources& sources);

// The first message of a RunStream.
struct DecodedStream {
  DecodedCall call;               // inputs that are streamed have no bytes
  std::vector<bool> is_streamed;  // by input
  bool want_checksums = false;
};
// One of the two.
struct DecodedStreamPart {
  std::optional<DecodedStream> start;
  std::optional<WireChunk> chunk;
};
// From the bytes of a RunStreamRequest. Errors as above.
absl::StatusOr<DecodedStreamPart> DecodeStreamPart(absl::Span<const grpc::Slice> request,
                                                   TensorSources& sources);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_H_
