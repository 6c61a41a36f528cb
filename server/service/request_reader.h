// Reads a request's bytes without copying the elements of its tensors.
#ifndef GPUCALL_SERVER_SERVICE_REQUEST_READER_H_
#define GPUCALL_SERVER_SERVICE_REQUEST_READER_H_

#include <grpcpp/support/slice.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gpucall/v1/compute.pb.h"
#include "server/base/host_bytes.h"

namespace gpucall {

// A message that carries elements. `header` is the message without them.
template <typename Message>
struct WithData {
  Message header;
  bool has_data = false;
  HostBytes data;  // into the request's slices
};

// A tensor of a request.
struct WireTensor : WithData<v1::Tensor> {
  int field = 0;  // its number in the request message
};
using WireChunk = WithData<v1::Chunk>;

struct SplitRequest {
  std::vector<WireTensor> tensors;  // in the order of the bytes
  std::string rest;                 // the request message without its tensors
};

// Splits the bytes of a request message, whose fields `tensor_fields` are Tensors. The slices must
// outlive the result. False: not the encoding of a message (`rest` has not been parsed yet).
bool SplitTensors(absl::Span<const grpc::Slice> slices, absl::Span<const int> tensor_fields,
                  SplitRequest& split);

// A RunStreamRequest, or a message that has its fields.
struct StreamPart {
  std::optional<SplitRequest> start;  // not parsed yet, as above
  std::optional<WireChunk> chunk;
};
bool ReadStreamPart(absl::Span<const grpc::Slice> slices, absl::Span<const int> tensor_fields,
                    StreamPart& part);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_REQUEST_READER_H_
