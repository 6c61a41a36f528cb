#include "server/service/encode.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstring>
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

}  // namespace

grpc::ByteBuffer EncodeReply(const Plan& plan, const TaskResult& result, WantReceipt want_receipt,
                             absl::string_view device) {
  static_assert(int{v1::RunReply::kOutputsFieldNumber} ==
                int{v1::ComputeReply::kOutputFieldNumber});
  static_assert(int{v1::RunReply::kReceiptFieldNumber} ==
                int{v1::ComputeReply::kReceiptFieldNumber});
  std::vector<std::string> prefixes;
  size_t total = 0;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const size_t size_bytes = static_cast<size_t>(result.outputs[i].size_bytes);
    prefixes.push_back(OutputPrefix(plan.values[plan.outputs[i]], size_bytes));
    total += prefixes.back().size() + size_bytes;
  }
  std::string receipt;
  if (want_receipt == WantReceipt::kYes) receipt = EncodeReceipt(result, device);

  grpc_slice slice = grpc_slice_malloc(total + receipt.size());
  uint8_t* to = GRPC_SLICE_START_PTR(slice);
  const auto append = [&to](const void* from, size_t size_bytes) {
    if (size_bytes > 0) std::memcpy(to, from, size_bytes);
    to += size_bytes;
  };
  for (size_t i = 0; i < prefixes.size(); ++i) {
    append(prefixes[i].data(), prefixes[i].size());
    append(result.outputs[i].data, static_cast<size_t>(result.outputs[i].size_bytes));
  }
  append(receipt.data(), receipt.size());
  const grpc::Slice reply(slice, grpc::Slice::STEAL_REF);
  return grpc::ByteBuffer(&reply, 1);
}

}  // namespace gpucall
