#include "server/service/encode.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpucall/v1/compute.pb.h"

namespace gpucall {
namespace {

using google::protobuf::internal::WireFormatLite;

void AppendVarint(uint64_t value, std::string& bytes) {
  uint8_t buffer[10];
  const uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value, buffer);
  bytes.append(reinterpret_cast<const char*>(buffer), end - buffer);
}

void AppendHeader(int field, uint64_t size_bytes, std::string& bytes) {
  AppendVarint(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), bytes);
  AppendVarint(size_bytes, bytes);
}

// What comes before the elements of one output in a reply.
std::string OutputPrefix(const TensorType& type, size_t size_bytes) {
  v1::Tensor tensor;
  tensor.set_dtype(static_cast<v1::DType>(type.dtype));
  tensor.mutable_shape()->Add(type.shape.begin(), type.shape.end());
  std::string inner = tensor.SerializeAsString();
  AppendHeader(v1::Tensor::kDataFieldNumber, size_bytes, inner);
  std::string prefix;
  AppendHeader(v1::RunReply::kOutputsFieldNumber, inner.size() + size_bytes, prefix);
  return prefix + inner;
}

std::string EncodeReceipt(const TaskResult& result, absl::string_view device) {
  v1::RunReply reply;
  v1::Receipt& receipt = *reply.mutable_receipt();
  receipt.set_queue_ns(absl::ToInt64Nanoseconds(result.queue_time));
  receipt.set_copy_in_ns(absl::ToInt64Nanoseconds(result.timing.copy_in));
  receipt.set_compute_ns(absl::ToInt64Nanoseconds(result.timing.compute));
  receipt.set_copy_out_ns(absl::ToInt64Nanoseconds(result.timing.copy_out));
  receipt.set_batch_size(result.batch_size);
  receipt.set_device(std::string(device));
  return reply.SerializeAsString();
}

constexpr int64_t kMinReferredBytes = 16 << 10;

bool IsReferredTo(const HostBytes::Piece& piece) {
  return piece.owner != nullptr && piece.size_bytes >= kMinReferredBytes;
}

// Keeps the piece's owner until the bytes are sent.
grpc::Slice ReferTo(const HostBytes::Piece& piece) {
  return grpc::Slice(
      const_cast<std::byte*>(piece.data), static_cast<size_t>(piece.size_bytes),
      [](void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); },
      new std::shared_ptr<const void>(piece.owner));
}

grpc::Slice Concatenated(absl::Span<const HostBytes::Piece> pieces) {
  int64_t size_bytes = 0;
  for (const HostBytes::Piece& piece : pieces) size_bytes += piece.size_bytes;
  grpc_slice slice = grpc_slice_malloc(static_cast<size_t>(size_bytes));
  uint8_t* to = GRPC_SLICE_START_PTR(slice);
  for (const HostBytes::Piece& piece : pieces) {
    if (piece.size_bytes == 0) continue;
    std::memcpy(to, piece.data, static_cast<size_t>(piece.size_bytes));
    to += piece.size_bytes;
  }
  return grpc::Slice(slice, grpc::Slice::STEAL_REF);
}

// Copies what lies between pieces that are referred to.
grpc::ByteBuffer ToByteBuffer(absl::Span<const HostBytes::Piece> pieces) {
  std::vector<grpc::Slice> slices;
  while (!pieces.empty()) {
    const auto referred = std::ranges::find_if(pieces, IsReferredTo);
    const auto count = static_cast<size_t>(referred - pieces.begin());
    if (count > 0) slices.push_back(Concatenated(pieces.first(count)));
    pieces.remove_prefix(count);
    if (pieces.empty()) break;
    slices.push_back(ReferTo(pieces[0]));
    pieces.remove_prefix(1);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

HostBytes::Piece PieceOf(const std::string& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), static_cast<int64_t>(bytes.size())};
}

}  // namespace

grpc::ByteBuffer EncodeReply(const Plan& plan, const TaskResult& result, WantReceipt want_receipt,
                             absl::string_view device) {
  static_assert(int{v1::RunReply::kOutputsFieldNumber} ==
                int{v1::ComputeReply::kOutputFieldNumber});
  static_assert(int{v1::RunReply::kReceiptFieldNumber} ==
                int{v1::ComputeReply::kReceiptFieldNumber});
  std::vector<std::string> prefixes;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    prefixes.push_back(OutputPrefix(plan.values[plan.outputs[i]],
                                    static_cast<size_t>(result.outputs[i].host.size_bytes())));
  }
  std::string receipt;
  if (want_receipt == WantReceipt::kYes) receipt = EncodeReceipt(result, device);

  std::vector<HostBytes::Piece> pieces;
  for (size_t i = 0; i < prefixes.size(); ++i) {
    pieces.push_back(PieceOf(prefixes[i]));
    const auto elements = result.outputs[i].host.pieces();
    pieces.insert(pieces.end(), elements.begin(), elements.end());
  }
  pieces.push_back(PieceOf(receipt));
  return ToByteBuffer(pieces);
}

}  // namespace gpucall
