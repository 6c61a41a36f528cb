#include "client/cpp/stream_results.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/chunks.h"
#include "client/cpp/wire.h"

namespace gpucall {
inline namespace client {
absl::Status StreamResults::Receive(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  ReceivedPart part;
  if (!message.Dump(&slices).ok() || !ReadStreamReply(PiecesOf(slices), part)) {
    return BadReply("has a message that is no part of a stream");
  }
  if (part.result.has_value() == part.chunk.has_value()) {
    return BadReply("has a message with neither a result nor a chunk, or with both");
  }
  return part.result ? Begin(*part.result) : Write(*part.chunk);
}

absl::Status StreamResults::Begin(const ReceivedReply& result) {
  if (result.has_receipt) receipt_ = result.receipt;
  if (std::exchange(begun_, true)) {  // the receipt alone may come at the end
    return result.outputs.empty() ? absl::OkStatus() : BadReply("has a second result");
  }
  for (const ReceivedTensor& from : result.outputs) {
    const absl::StatusOr<TensorType> type = DecodeHeader(from.header);
    if (!type.ok()) return type.status();
    if (!from.has_data && !from.header.has_streamed()) {
      return BadReply(absl::StrCat("names no place of the elements of outputs[", outputs_.size(),
                                   "] that this client knows"));
    }
    if (from.has_data && SizeBytes(from.data) != type->size_bytes) {
      return BadReply(absl::StrCat("has ", SizeBytes(from.data), " bytes of outputs[",
                                   outputs_.size(), "], not ", type->size_bytes));
    }
    absl::StatusOr<Tensor> output = Tensor::Uninitialized(type->dtype, type->shape);
    if (!output.ok()) return output.status();
    if (from.has_data) Copy(from.data, output->mutable_data());
    outputs_.push_back(*std::move(output));
    received_.push_back(SizeBytes(from.data));
    bytes_received_ += static_cast<int64_t>(received_.back());
    bytes_in_all_ += static_cast<int64_t>(type->size_bytes);
  }
  return absl::OkStatus();
}

absl::Status StreamResults::Check(const ReceivedChunk& chunk) const {
  if (!begun_) return BadReply("has a chunk before the result");
  const uint32_t tensor = chunk.header.tensor();
  if (tensor >= outputs_.size()) {
    return BadReply(
        absl::StrCat("has a chunk of outputs[", tensor, "], there are ", outputs_.size()));
  }
  return CheckChunk(absl::StrCat("outputs[", tensor, "]"), chunk, received_[tensor],
                    outputs_[tensor].bytes().size() - received_[tensor]);
}

absl::Status StreamResults::Write(const ReceivedChunk& chunk) {
  if (absl::Status status = Check(chunk); !status.ok()) return status;
  const uint32_t tensor = chunk.header.tensor();
  Copy(chunk.data, outputs_[tensor].mutable_data() + received_[tensor]);
  received_[tensor] += SizeBytes(chunk.data);
  bytes_received_ += static_cast<int64_t>(SizeBytes(chunk.data));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> StreamResults::Finish(Receipt* receipt) {
  if (!begun_) return BadReply("ended before the result");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (received_[i] == outputs_[i].bytes().size()) continue;
    return BadReply(absl::StrCat("ended after ", received_[i], " of ", outputs_[i].bytes().size(),
                                 " bytes of outputs[", i, "]"));
  }
  if (receipt != nullptr) FromWire(receipt_, *receipt);
  return std::move(outputs_);
}

}  // namespace client
}  // namespace gpucall
