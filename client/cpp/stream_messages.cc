#include "client/cpp/stream_messages.h"

#include <string>
#include <utility>

#include "client/cpp/checksum.h"
#include "client/cpp/message_writer.h"
#include "gpucall/v1/compute.pb.h"

namespace gpucall {
inline namespace client {
namespace {

constexpr size_t kMaxInlineBytes = 64 << 10;

bool IsInline(const TensorRef& input) {
  return input.is_resident() || input.bytes().size() <= kMaxInlineBytes;
}

}  // namespace

std::optional<grpc::ByteBuffer> StreamMessages::Next() {
  if (!std::exchange(started_, true)) return Start();
  const std::vector<TensorRef>& inputs = request_->inputs;
  while (tensor_ < inputs.size() &&
         (IsInline(inputs[tensor_]) || offset_ == inputs[tensor_].bytes().size())) {
    ++tensor_;
    offset_ = 0;
  }
  if (tensor_ == inputs.size()) return std::nullopt;
  return Chunk(inputs[tensor_].bytes().substr(offset_, kChunkBytes));
}

grpc::ByteBuffer StreamMessages::Start() {
  v1::RunStreamRequest message;
  v1::RunStreamStart& start = *message.mutable_start();
  *start.mutable_program() = request_->program;
  for (const TensorRef& from : request_->inputs) {
    v1::Tensor& input = *start.add_inputs();
    SetHeader(from, input);
    if (from.is_resident()) {
      input.set_handle(std::string(from.bytes()));
    } else if (IsInline(from)) {
      input.set_data(std::string(from.bytes()));
      bytes_given_ += static_cast<int64_t>(from.bytes().size());
    } else {
      input.mutable_streamed();
    }
  }
  start.set_checksums(options_.checksums);
  if (options_.receipt == WantReceipt::kYes) start.mutable_options()->set_want_receipt(true);
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer StreamMessages::Chunk(absl::string_view data) {
  v1::Chunk header;
  header.set_tensor(static_cast<uint32_t>(tensor_));
  header.set_offset(offset_);
  if (options_.checksums) header.set_crc32(Crc32(data));
  const std::string head = header.SerializeAsString();
  MessageWriter writer(request_->owner);
  writer.AddFieldHeader(v1::RunStreamRequest::kChunkFieldNumber,
                        head.size() + FieldSizeBytes(v1::Chunk::kDataFieldNumber, data.size()));
  writer.Add(head);
  writer.AddFieldHeader(v1::Chunk::kDataFieldNumber, data.size());
  writer.AddOwned(data);
  offset_ += data.size();
  bytes_given_ += static_cast<int64_t>(data.size());
  return writer.Finish();
}

}  // namespace client
}  // namespace gpucall
