// Requests and replies as messages. The only place that knows the client's types and the wire's.
#ifndef GPUCALL_CLIENT_CPP_WIRE_H_
#define GPUCALL_CLIENT_CPP_WIRE_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/encoded_request.h"
#include "gpucall/client.h"
#include "gpucall/v1/compute.pb.h"
#include "gpucall/v1/server.pb.h"

namespace gpucall {
inline namespace client {

v1::ElementwiseOp ToWire(ElementwiseOp op);
v1::MatMul ToWire(const MatMulOptions& options);
v1::Filter ToWire(const FilterOptions& options);
v1::Sort ToWire(const SortOptions& options);
v1::Scan ToWire(const ScanOptions& options);
v1::Take ToWire(const TakeOptions& options);
v1::Network ToWire(const NetworkOptions& options);
v1::Program ToWire(const Program& program);

enum class WantReceipt : uint8_t { kNo, kYes };

// The message of the request's verb, which refers to the elements (message_writer.h).
// RESOURCE_EXHAUSTED: 2 GiB or more, which no message can hold.
absl::StatusOr<grpc::ByteBuffer> EncodeUnary(const EncodedRequest& request, WantReceipt receipt);

// dtype and shape.
void SetHeader(const TensorRef& from, v1::Tensor& tensor);

// The outputs of a ComputeReply or a RunReply, their elements copied once, but for those that are
// where `shared` (null: nowhere) has room for them. Sets *receipt unless null. INTERNAL: not such a
// message, or a tensor that cannot be. RESOURCE_EXHAUSTED: no memory.
absl::StatusOr<std::vector<Tensor>> DecodeReply(const grpc::ByteBuffer& reply, Receipt* receipt,
                                                const SharedTensors* shared = nullptr);
// A tensor of a reply, but for its elements.
struct TensorType {
  DType dtype;
  Shape shape;
  size_t size_bytes;
};
// INTERNAL as above.
absl::StatusOr<TensorType> DecodeHeader(const v1::Tensor& header);
// INTERNAL, with a message that begins "the server's reply ".
absl::Status BadReply(absl::string_view why);
void FromWire(const v1::Receipt& from, Receipt& receipt);

ServerInfo FromWire(const v1::ServerInfo& info);
std::vector<CatalogueEntry> FromWire(const v1::Catalogue& catalogue);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_WIRE_H_
