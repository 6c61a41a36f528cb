#include "server/service/encode.h"

#include <cstdint>
#include <string>

#include "gpucall/v1/compute.pb.h"
#include "server/service/wire_writer.h"

namespace gpucall {
namespace {

void SetType(const TensorType& type, v1::Tensor& tensor) {
  tensor.set_dtype(static_cast<v1::DType>(type.dtype));
  tensor.mutable_shape()->Add(type.shape.begin(), type.shape.end());
}

void SetReceipt(const TaskResult& result, absl::string_view device, v1::Receipt& receipt) {
  receipt.set_queue_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(result.queue_time)));
  receipt.set_copy_in_ns(absl::ToInt64Nanoseconds(result.timing.copy_in));
  receipt.set_compute_ns(absl::ToInt64Nanoseconds(result.timing.compute));
  receipt.set_copy_out_ns(absl::ToInt64Nanoseconds(result.timing.copy_out));
  receipt.set_batch_size(result.batch_size);
  receipt.set_device(std::string(device));
}

// What comes before the elements of one output in a reply.
std::string OutputPrefix(const TensorType& type, uint64_t size_bytes) {
  v1::Tensor tensor;
  SetType(type, tensor);
  std::string inner = tensor.SerializeAsString();
  AppendFieldHeader(v1::Tensor::kDataFieldNumber, size_bytes, inner);
  std::string prefix;
  AppendFieldHeader(v1::RunReply::kOutputsFieldNumber, inner.size() + size_bytes, prefix);
  return prefix + inner;
}

// An output that is kept.
std::string KeptOutput(const TensorType& type, const std::string& handle) {
  v1::RunReply reply;
  v1::Tensor& tensor = *reply.add_outputs();
  SetType(type, tensor);
  tensor.set_handle(handle);
  return reply.SerializeAsString();
}

// An output in shared memory.
std::string PlacedOutput(const TensorType& type, const v1::Region& region) {
  v1::RunReply reply;
  v1::Tensor& tensor = *reply.add_outputs();
  SetType(type, tensor);
  *tensor.mutable_region() = region;
  return reply.SerializeAsString();
}

}  // namespace

grpc::ByteBuffer EncodeReply(const Plan& plan, const TaskResult& result,
                             absl::Span<const std::string> handles, const PlacedOutputs& placed,
                             WantReceipt want_receipt, absl::string_view device) {
  static_assert(int{v1::RunReply::kOutputsFieldNumber} ==
                int{v1::ComputeReply::kOutputFieldNumber});
  static_assert(int{v1::RunReply::kReceiptFieldNumber} ==
                int{v1::ComputeReply::kReceiptFieldNumber});
  WireWriter writer;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    if (!handles[i].empty()) {
      writer.Add(KeptOutput(plan.values[plan.outputs[i]], handles[i]));
      continue;
    }
    if (placed.has(i)) {
      writer.Add(PlacedOutput(plan.values[plan.outputs[i]], *placed.regions[i]));
      continue;
    }
    const HostBytes& elements = result.outputs[i].host;
    writer.Add(
        OutputPrefix(plan.values[plan.outputs[i]], static_cast<uint64_t>(elements.size_bytes())));
    writer.Add(elements);
  }
  if (want_receipt == WantReceipt::kYes) {
    v1::RunReply reply;
    SetReceipt(result, device, *reply.mutable_receipt());
    writer.Add(reply.SerializeAsString());
  }
  return writer.Finish();
}

grpc::ByteBuffer EncodeStreamResult(const Plan& plan, absl::Span<const std::string> handles) {
  v1::RunStreamReply reply;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    v1::Tensor& tensor = *reply.mutable_result()->add_outputs();
    SetType(plan.values[plan.outputs[i]], tensor);
    if (handles[i].empty()) {
      tensor.mutable_streamed();
    } else {
      tensor.set_handle(handles[i]);
    }
  }
  WireWriter writer;
  writer.Add(reply.SerializeAsString());
  return writer.Finish();
}

grpc::ByteBuffer EncodeStreamReceipt(const TaskResult& result, absl::string_view device) {
  v1::RunStreamReply reply;
  SetReceipt(result, device, *reply.mutable_result()->mutable_receipt());
  WireWriter writer;
  writer.Add(reply.SerializeAsString());
  return writer.Finish();
}

grpc::ByteBuffer EncodeChunk(uint32_t tensor, int64_t offset, const HostBytes& data,
                             std::optional<uint32_t> crc32) {
  v1::Chunk chunk;
  chunk.set_tensor(tensor);
  chunk.set_offset(static_cast<uint64_t>(offset));
  if (crc32) chunk.set_crc32(*crc32);
  std::string inner = chunk.SerializeAsString();
  AppendFieldHeader(v1::Chunk::kDataFieldNumber, static_cast<uint64_t>(data.size_bytes()), inner);
  std::string prefix;
  AppendFieldHeader(v1::RunStreamReply::kChunkFieldNumber,
                    inner.size() + static_cast<uint64_t>(data.size_bytes()), prefix);
  WireWriter writer;
  writer.Add(prefix + inner);
  writer.Add(data);
  return writer.Finish();
}

}  // namespace gpucall
