// Requests and replies as messages. The only place that knows the client's types and the wire's.
#ifndef GPUCALL_CLIENT_CPP_WIRE_H_
#define GPUCALL_CLIENT_CPP_WIRE_H_

#include <grpcpp/support/byte_buffer.h>

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gpucall/client.h"
#include "gpucall/v1/compute.pb.h"
#include "gpucall/v1/server.pb.h"

namespace gpucall {
inline namespace client {

v1::ElementwiseOp ToWire(ElementwiseOp op);
v1::MatMul ToWire(const MatMulOptions& options);
v1::Filter ToWire(const FilterOptions& options);
v1::Program ToWire(const Program& program);

// A field of type Tensor of a request.
struct TensorField {
  int number;
  const TensorRef* tensor;
};
// The request `rest` with the tensors added, copying their elements once.
// RESOURCE_EXHAUSTED: 2 GiB or more, which no message can hold.
absl::StatusOr<grpc::ByteBuffer> Encode(const google::protobuf::MessageLite& rest,
                                        absl::Span<const TensorField> tensors);
// `request` that asks for a receipt too.
grpc::ByteBuffer WithReceipt(const grpc::ByteBuffer& request);

// The outputs of a ComputeReply or a RunReply, which are one on the wire. Sets *receipt unless
// null. INTERNAL: not such a message, or a tensor that cannot be.
absl::StatusOr<std::vector<Tensor>> DecodeReply(grpc::ByteBuffer reply, Receipt* receipt);

ServerInfo FromWire(const v1::ServerInfo& info);
std::vector<CatalogueEntry> FromWire(const v1::Catalogue& catalogue);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_WIRE_H_
