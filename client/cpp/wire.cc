#include "client/cpp/wire.h"

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
std::string OptionsOf(WantReceipt receipt) {
  v1::RunRequest request;
  if (receipt == WantReceipt::kYes) request.mutable_options()->set_want_receipt(true);
  return request.SerializeAsString();
}

}  // namespace

void SetHeader(const TensorRef& from, v1::Tensor& tensor) {
  tensor.set_dtype(static_cast<v1::DType>(from.dtype()));
  tensor.mutable_shape()->Add(from.shape().begin(), from.shape().end());
}

absl::StatusOr<grpc::ByteBuffer> EncodeUnary(const EncodedRequest& request, WantReceipt receipt) {
  MessageWriter writer(request.owner);
  writer.Add(request.rest);
  writer.Add(OptionsOf(receipt));
  for (size_t i = 0; i < request.inputs.size(); ++i) {
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

absl::StatusOr<std::vector<Tensor>> DecodeReply(const grpc::ByteBuffer& bytes, Receipt* receipt) {
  std::vector<grpc::Slice> slices;
  ReceivedReply reply;
  if (!bytes.Dump(&slices).ok() || !ReadReply(PiecesOf(slices), reply)) {
    return BadReply("is not a gpucall reply");
  }
  std::vector<Tensor> outputs;
  for (const ReceivedTensor& from : reply.outputs) {
    const absl::StatusOr<TensorType> type = DecodeHeader(from.header);
    if (!type.ok()) return type.status();
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
