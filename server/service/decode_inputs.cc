#include "server/service/decode_inputs.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/decode_operation.h"

namespace gpucall {
namespace {

absl::Status MissingData(absl::string_view name, const v1::Tensor& header) {
  switch (header.source_case()) {
    case v1::Tensor::kStreamed:
      return absl::InvalidArgumentError(absl::StrCat(name, ": streamed is for RunStream only"));
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": source is not set, allowed are data, handle and region"));
  }
}

absl::Status Named(absl::string_view name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

}  // namespace

absl::Status AddResident(absl::string_view name, const v1::Tensor& header, TensorSources& sources,
                         DecodedCall& call) {
  absl::StatusOr<StoredTensor> found = sources.FindResident(header.handle());
  if (!found.ok()) return Named(name, found.status());
  const absl::Span<const int64_t> shape(header.shape().data(), header.shape_size());
  const bool other_dtype =
      header.dtype() != 0 && header.dtype() != static_cast<int>(found->type.dtype);
  if (other_dtype || (!shape.empty() && shape != absl::MakeConstSpan(found->type.shape))) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": the handle's tensor is ", DTypeName(found->type.dtype), " ",
                     ShapeString(found->type.shape), ", not dtype ", header.dtype(), " and shape ",
                     ShapeString(shape)));
  }
  call.types.push_back(std::move(found->type));
  call.inputs.push_back({.resident = std::move(found->buffer)});
  return absl::OkStatus();
}

absl::Status AddInput(absl::string_view name, const WireTensor& tensor, TensorSources& sources,
                      DecodedCall& call, Streaming streaming) {
  const v1::Tensor& header = tensor.header;
  if (!tensor.has_data && header.has_handle()) return AddResident(name, header, sources, call);
  GPUCALL_ASSIGN_OR_RETURN(const DType dtype, DecodeDType(name, header.dtype()));
  const absl::Span<const int64_t> shape(header.shape().data(), header.shape_size());
  GPUCALL_ASSIGN_OR_RETURN(const int64_t size_bytes, CheckedSizeBytes(name, dtype, shape));
  if (!tensor.has_data && header.has_region()) {
    absl::StatusOr<HostBytes> elements = sources.FindRegion(header.region(), size_bytes);
    if (!elements.ok()) return Named(name, elements.status());
    call.types.push_back({dtype, Shape(shape.begin(), shape.end())});
    call.inputs.push_back({.host = *std::move(elements)});
    return absl::OkStatus();
  }
  const bool streamed = !tensor.has_data && header.has_streamed() && streaming == Streaming::kYes;
  if (!tensor.has_data && !streamed) return MissingData(name, header);
  if (!streamed && tensor.data.size_bytes() != size_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": data has ", tensor.data.size_bytes(),
                                                   " bytes, shape ", ShapeString(shape), " of ",
                                                   DTypeName(dtype), " needs ", size_bytes));
  }
  call.types.push_back({dtype, Shape(shape.begin(), shape.end())});
  call.inputs.push_back({.host = tensor.data});
  return absl::OkStatus();
}

absl::Status AddInput(absl::string_view name, const WireTensor* tensor, TensorSources& sources,
                      DecodedCall& call) {
  return AddInput(name, tensor == nullptr ? WireTensor() : *tensor, sources, call);
}

absl::Status AddInputs(absl::Span<const WireTensor> tensors, TensorSources& sources,
                       DecodedCall& call, Streaming streaming) {
  if (tensors.size() > kMaxProgramValues) {
    return absl::InvalidArgumentError(
        absl::StrCat("inputs: has ", tensors.size(), " tensors, allowed are ", kMaxProgramValues));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    GPUCALL_RETURN_IF_ERROR(
        AddInput(absl::StrCat("inputs[", i, "]"), tensors[i], sources, call, streaming));
  }
  return absl::OkStatus();
}

}  // namespace gpucall
