// Reads a request's bytes without copying the elements of its tensors.
#ifndef GPUCALL_SERVER_SERVICE_REQUEST_READER_H_
#define GPUCALL_SERVER_SERVICE_REQUEST_READER_H_

#include <grpcpp/support/slice.h>

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gpucall/v1/tensor.pb.h"
#include "server/base/host_bytes.h"

namespace gpucall {

// A tensor of a request. `header` is the message without its data.
struct WireTensor {
  int field = 0;  // its number in the request message
  v1::Tensor header;
  bool has_data = false;
  HostBytes data;  // into the request's slices
};

struct SplitRequest {
  std::vector<WireTensor> tensors;  // in the order of the bytes
  std::string rest;                 // the request message without its tensors
};

// Splits the bytes of a request message, whose fields `tensor_fields` are Tensors. The slices must
// outlive the result. False: not the encoding of a message (`rest` has not been parsed yet).
bool SplitTensors(absl::Span<const grpc::Slice> slices, absl::Span<const int> tensor_fields,
                  SplitRequest& split);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_REQUEST_READER_H_
