// Messages as they were received, read without copying the elements that they hold.
#ifndef GPUCALL_CLIENT_CPP_MESSAGE_READER_H_
#define GPUCALL_CLIENT_CPP_MESSAGE_READER_H_

#include <grpcpp/support/slice.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gpucall/v1/compute.pb.h"

namespace gpucall {
inline namespace client {

// Consecutive bytes that lie in several places. The slices that they came from must outlive them.
using Pieces = std::vector<absl::string_view>;

Pieces PiecesOf(absl::Span<const grpc::Slice> slices);
size_t SizeBytes(const Pieces& pieces);
void Copy(const Pieces& pieces, char* to);

struct ReceivedTensor {
  v1::Tensor header;  // but for `data`
  bool has_data = false;
  Pieces data;
};
struct ReceivedReply {
  std::vector<ReceivedTensor> outputs;
  bool has_receipt = false;
  v1::Receipt receipt;
};
struct ReceivedChunk {
  v1::Chunk header;  // but for `data`
  Pieces data;
};
// Of what a message names twice the last counts; neither is set where a newer server sends what
// this client does not know.
struct ReceivedPart {
  std::optional<ReceivedReply> result;
  std::optional<ReceivedChunk> chunk;
};

// A ComputeReply or a RunReply, which are one on the wire. False: the bytes are no such message.
bool ReadReply(Pieces message, ReceivedReply& reply);
// A RunStreamReply. False as above.
bool ReadStreamReply(Pieces message, ReceivedPart& part);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_MESSAGE_READER_H_
