#include "client/cpp/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gpucall/v1/compute.grpc.pb.h"  // and with it SerializationTraits of messages

namespace gpucall {
inline namespace client {
namespace {

using google::protobuf::io::CodedOutputStream;

// Tag of a length-delimited field.
constexpr uint32_t TagOf(int number) { return static_cast<uint32_t>(number) << 3 | 2; }

// A Tensor but for its elements.
std::string TensorHead(const TensorRef& tensor) {
  v1::Tensor head;
  head.set_dtype(static_cast<v1::DType>(tensor.dtype()));
  head.mutable_shape()->Add(tensor.shape().begin(), tensor.shape().end());
  return head.SerializeAsString();
}

size_t FieldSize(int number, size_t content) {
  return CodedOutputStream::VarintSize32(TagOf(number)) + CodedOutputStream::VarintSize64(content) +
         content;
}
void WriteField(int number, size_t content, CodedOutputStream& out) {
  out.WriteTag(TagOf(number));
  out.WriteVarint64(content);
}

// Of a Tensor's own encoding.
size_t TensorSize(const TensorRef& tensor, const std::string& head) {
  return head.size() + FieldSize(v1::Tensor::kDataFieldNumber, tensor.bytes().size());
}

// Into one slice of `size` bytes.
void Write(const google::protobuf::MessageLite& rest, absl::Span<const TensorField> tensors,
           absl::Span<const std::string> heads, int size, grpc::ByteBuffer& buffer) {
  grpc::ProtoBufferWriter writer(&buffer, size, size);
  CodedOutputStream out(&writer);
  rest.SerializeToCodedStream(&out);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const absl::string_view elements = tensors[i].tensor->bytes();
    WriteField(tensors[i].number, TensorSize(*tensors[i].tensor, heads[i]), out);
    out.WriteRaw(heads[i].data(), static_cast<int>(heads[i].size()));
    WriteField(v1::Tensor::kDataFieldNumber, elements.size(), out);
    out.WriteRaw(elements.data(), static_cast<int>(elements.size()));
  }
}

}  // namespace

absl::StatusOr<grpc::ByteBuffer> Encode(const google::protobuf::MessageLite& rest,
                                        absl::Span<const TensorField> tensors) {
  std::vector<std::string> heads;
  size_t size = rest.ByteSizeLong();
  for (const TensorField& field : tensors) {
    heads.push_back(TensorHead(*field.tensor));
    size += FieldSize(field.number, TensorSize(*field.tensor, heads.back()));
  }
  if (size > std::numeric_limits<int32_t>::max()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the request has ", size, " bytes, a message holds fewer than 2^31"));
  }
  grpc::ByteBuffer buffer;
  Write(rest, tensors, heads, static_cast<int>(size), buffer);
  return buffer;
}

grpc::ByteBuffer WithReceipt(const grpc::ByteBuffer& request) {
  // Encodings laid end to end are the merged message, and every request has `options` at one
  // number.
  v1::RunRequest options;
  options.mutable_options()->set_want_receipt(true);
  std::vector<grpc::Slice> slices;
  static_cast<void>(request.Dump(&slices));
  slices.emplace_back(options.SerializeAsString());
  return grpc::ByteBuffer(slices.data(), slices.size());
}

absl::StatusOr<std::vector<Tensor>> DecodeReply(grpc::ByteBuffer bytes, Receipt* receipt) {
  v1::RunReply reply;
  if (!grpc::SerializationTraits<v1::RunReply>::Deserialize(&bytes, &reply).ok()) {
    return absl::InternalError("the server's reply is not a gpucall reply");
  }
  std::vector<Tensor> outputs;
  for (v1::Tensor& tensor : *reply.mutable_outputs()) {
    if (tensor.dtype() < 0 || tensor.dtype() >= kDTypeCount) {
      return absl::InternalError(absl::StrCat("the server's reply has dtype number ",
                                              static_cast<int>(tensor.dtype()),
                                              ", which this client does not know"));
    }
    absl::StatusOr<Tensor> output = Tensor::FromBytes(
        static_cast<DType>(tensor.dtype()), Shape(tensor.shape().begin(), tensor.shape().end()),
        std::move(*tensor.mutable_data()));
    if (!output.ok()) {
      return absl::InternalError(absl::StrCat("the server's reply: ", output.status().message()));
    }
    outputs.push_back(*std::move(output));
  }
  if (receipt != nullptr) {
    const v1::Receipt& from = reply.receipt();
    receipt->queue = absl::Nanoseconds(from.queue_ns());
    receipt->copy_in = absl::Nanoseconds(from.copy_in_ns());
    receipt->compute = absl::Nanoseconds(from.compute_ns());
    receipt->copy_out = absl::Nanoseconds(from.copy_out_ns());
    receipt->batch_size = from.batch_size();
    receipt->device = from.device();
  }
  return outputs;
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
