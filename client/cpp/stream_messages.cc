#include "client/cpp/stream_messages.h"

#include <string>
#include <utility>

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
  std::optional<size_t> next;  // of which the smallest part was sent
  double least = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t size_bytes = inputs[i].bytes().size();
    if (sent_[i] == size_bytes) continue;
    const double part = static_cast<double>(sent_[i]) / static_cast<double>(size_bytes);
    if (next && part >= least) continue;
    next = i;
    least = part;
  }
  if (!next) return std::nullopt;
  return Chunk(*next);
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
      sent_.push_back(from.bytes().size());
    } else if (IsInline(from)) {
      input.set_data(std::string(from.bytes()));
      sent_.push_back(from.bytes().size());
      bytes_given_ += static_cast<int64_t>(from.bytes().size());
    } else {
      input.mutable_streamed();
      sent_.push_back(0);
    }
  }
  start.set_checksums(options_.checksums == Checksums::kYes);
  if (options_.receipt == WantReceipt::kYes) start.mutable_options()->set_want_receipt(true);
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer StreamMessages::Chunk(size_t input) {
  const absl::string_view data = request_->inputs[input].bytes().substr(sent_[input], kChunkBytes);
  v1::Chunk header;
  header.set_tensor(static_cast<uint32_t>(input));
  header.set_offset(sent_[input]);
  sent_[input] += data.size();
  bytes_given_ += static_cast<int64_t>(data.size());
  return ChunkMessage(v1::RunStreamRequest::kChunkFieldNumber, std::move(header), data,
                      options_.checksums, request_->owner);
}

}  // namespace client
}  // namespace gpucall
