#include "client/cpp/wire.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cpp/message_reader.h"
#include "client/cpp/message_writer.h"

namespace gpucall {
inline namespace client {
namespace {

// A Tensor but for its elements.
std::string TensorHead(const TensorRef& tensor) {
  v1::Tensor head;
  SetHeader(tensor, head);
  return head.SerializeAsString();
}

// Every request has `options` at one number.
std::string OptionsOf(WantReceipt receipt, const SharedTensors* shared) {
  v1::RunRequest request;
  if (shared != nullptr && shared->results != nullptr) {
    *request.mutable_options()->mutable_output_area() = shared->area;
  }
  if (receipt == WantReceipt::kYes) request.mutable_options()->set_want_receipt(true);
  return request.SerializeAsString();
}

// An output that the server has put into shared memory: it keeps all of the results' place.
absl::StatusOr<Tensor> SharedOutput(const TensorType& type, const v1::Region& region,
                                    const SharedTensors* shared) {
  const bool known = shared != nullptr && shared->results != nullptr &&
                     region.segment() == shared->area.segment() &&
                     region.offset() >= shared->area.offset();
  const uint64_t offset = known ? region.offset() - shared->area.offset() : 0;
  if (!known || offset > shared->area.size_bytes() ||
      type.size_bytes > shared->area.size_bytes() - offset) {
    return BadReply("has an output outside the memory that it was given");
  }
  std::shared_ptr<char> data(shared->results, shared->results.get() + offset);
  return Tensor::FromMemory(type.dtype, type.shape, Memory(std::move(data), type.size_bytes));
}

// Gives back what the results did not need.
void Trim(const SharedTensors& shared, absl::Span<const ReceivedTensor> outputs,
          absl::Span<const Tensor> tensors) {
  size_t used = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].header.has_region()) continue;
    const uint64_t offset = outputs[i].header.region().offset() - shared.area.offset();
    used = std::max<size_t>(used, offset + tensors[i].bytes().size());
  }
  shared.arena->Trim(shared.results.get(), used);
}

}  // namespace

void SetHeader(const TensorRef& from, v1::Tensor& tensor) {
  tensor.set_dtype(static_cast<v1::DType>(from.dtype()));
  tensor.mutable_shape()->Add(from.shape().begin(), from.shape().end());
}

absl::StatusOr<grpc::ByteBuffer> EncodeUnary(const EncodedRequest& request, WantReceipt receipt) {
  MessageWriter writer(request.owner);
  writer.Add(request.rest);
  writer.Add(OptionsOf(receipt, request.shared.get()));
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.shared != nullptr && request.shared->inputs[i].has_value()) {
      v1::Tensor tensor;
      SetHeader(request.inputs[i], tensor);
      *tensor.mutable_region() = *request.shared->inputs[i];
      writer.AddFieldHeader(request.fields[i], tensor.ByteSizeLong());
      writer.Add(tensor.SerializeAsString());
      continue;
    }
    const std::string head = TensorHead(request.inputs[i]);
    const absl::string_view elements = request.inputs[i].bytes();
    const int source = request.inputs[i].is_resident() ? v1::Tensor::kHandleFieldNumber
                                                       : v1::Tensor::kDataFieldNumber;
    writer.AddFieldHeader(request.fields[i], head.size() + FieldSizeBytes(source, elements.size()));
    writer.Add(head);
    writer.AddFieldHeader(source, elements.size());
    writer.AddOwned(elements);
  }
  if (writer.size_bytes() > std::numeric_limits<int32_t>::max()) {
    return absl::ResourceExhaustedError(absl::StrCat("the request has ", writer.size_bytes(),
                                                     " bytes, a message holds fewer than 2^31"));
  }
  return writer.Finish();
}

absl::Status BadReply(absl::string_view why) {
  return absl::InternalError(absl::StrCat("the server's reply ", why));
}

absl::StatusOr<TensorType> DecodeHeader(const v1::Tensor& header) {
  if (header.dtype() < 0 || header.dtype() >= kDTypeCount) {
    return BadReply(absl::StrCat("has dtype number ", static_cast<int>(header.dtype()),
                                 ", which this client does not know"));
  }
  TensorType type = {.dtype = static_cast<DType>(header.dtype()),
                     .shape = Shape(header.shape().begin(), header.shape().end()),
                     .size_bytes = 0};
  const absl::StatusOr<size_t> size_bytes = SizeBytes(type.dtype, type.shape);
  if (!size_bytes.ok()) {
    return BadReply(absl::StrCat("has an output that cannot be: ", size_bytes.status().message()));
  }
  type.size_bytes = *size_bytes;
  return type;
}

absl::StatusOr<std::vector<Tensor>> DecodeReply(const grpc::ByteBuffer& bytes, Receipt* receipt,
                                                const SharedTensors* shared) {
  std::vector<grpc::Slice> slices;
  ReceivedReply reply;
  if (!bytes.Dump(&slices).ok() || !ReadReply(PiecesOf(slices), reply)) {
    return BadReply("is not a gpucall reply");
  }
  std::vector<Tensor> outputs;
  for (const ReceivedTensor& from : reply.outputs) {
    const absl::StatusOr<TensorType> type = DecodeHeader(from.header);
    if (!type.ok()) return type.status();
    if (from.header.has_region()) {
      absl::StatusOr<Tensor> output = SharedOutput(*type, from.header.region(), shared);
      if (!output.ok()) return output.status();
      outputs.push_back(*std::move(output));
      continue;
    }
    if (SizeBytes(from.data) != type->size_bytes) {
      return BadReply(absl::StrCat("has an output of shape (", absl::StrJoin(type->shape, ", "),
                                   ") of ", DTypeName(type->dtype), ", which needs ",
                                   type->size_bytes, " bytes of elements, got ",
                                   SizeBytes(from.data)));
    }
    absl::StatusOr<Tensor> output = Tensor::Uninitialized(type->dtype, type->shape);
    if (!output.ok()) return output.status();
    Copy(from.data, output->mutable_data());
    outputs.push_back(*std::move(output));
  }
  if (shared != nullptr && shared->results != nullptr) Trim(*shared, reply.outputs, outputs);
  if (receipt != nullptr) FromWire(reply.receipt, *receipt);
  return outputs;
}

void FromWire(const v1::Receipt& from, Receipt& receipt) {
  receipt.queue = absl::Nanoseconds(from.queue_ns());
  receipt.copy_in = absl::Nanoseconds(from.copy_in_ns());
  receipt.compute = absl::Nanoseconds(from.compute_ns());
  receipt.copy_out = absl::Nanoseconds(from.copy_out_ns());
  receipt.batch_size = from.batch_size();
  receipt.device = from.device();
}

ServerInfo FromWire(const v1::ServerInfo& from) {
  ServerInfo info;
  info.version = from.version();
  info.device_choice = from.device_choice();
  for (const v1::DeviceInfo& device : from.devices()) {
    info.devices.push_back({.id = device.id(),
                            .name = device.name(),
                            .memory_bytes = device.memory_bytes(),
                            .lanes = device.lanes(),
                            .compute_capability = device.compute_capability()});
  }
  const v1::Limits& limits = from.limits();
  info.limits = {.max_message_bytes = limits.max_message_bytes(),
                 .max_tensor_bytes = limits.max_tensor_bytes(),
                 .max_dimensions = limits.max_dimensions(),
                 .max_operations = limits.max_operations(),
                 .max_values = limits.max_values(),
                 .max_batch_tasks = limits.max_batch_tasks(),
                 .max_queue_tasks = limits.max_queue_tasks(),
                 .max_queue_bytes = limits.max_queue_bytes()};
  return info;
}

std::vector<CatalogueEntry> FromWire(const v1::Catalogue& catalogue) {
  std::vector<CatalogueEntry> entries;
  for (const v1::CatalogueEntry& from : catalogue.operations()) {
    CatalogueEntry& entry = entries.emplace_back();
    entry.name = from.name();
    entry.kind = from.kind();
    entry.inputs = from.inputs();
    entry.description = from.description();
    for (int dtype : from.dtypes()) {
      // A newer server may name dtypes this client has no word for.
      if (dtype > 0 && dtype < kDTypeCount) entry.dtypes.push_back(static_cast<DType>(dtype));
    }
  }
  return entries;
}

}  // namespace client
}  // namespace gpucall
