#include "server/service/decode.h"

#include "absl/strings/str_cat.h"
#include "gpucall/v1/compute.pb.h"
#include "gpucall/v1/tensors.pb.h"
#include "server/base/status_macros.h"
#include "server/service/decode_image.h"
#include "server/service/decode_inputs.h"
#include "server/service/decode_lines.h"
#include "server/service/decode_matmul.h"
#include "server/service/decode_network.h"
#include "server/service/decode_operation.h"
#include "server/service/decode_rearrange.h"
#include "server/service/request_reader.h"

namespace gpucall {
namespace {

// A request message without its tensors, and they.
template <typename Request>
struct Parsed {
  Request message;
  std::vector<WireTensor> tensors;

  // The last tensor of a field that holds one; null where there is none.
  const WireTensor* Find(int field) const {
    for (size_t i = tensors.size(); i-- > 0;) {
      if (tensors[i].field == field) return &tensors[i];
    }
    return nullptr;
  }
};

template <typename Message>
absl::Status NotAMessage() {
  return absl::InvalidArgumentError(
      absl::StrCat("request: is not a valid ", Message().GetTypeName(), " message"));
}

template <typename Request>
absl::StatusOr<Parsed<Request>> Parse(absl::Span<const grpc::Slice> bytes,
                                      absl::Span<const int> tensor_fields) {
  Parsed<Request> parsed;
  SplitRequest split;
  if (!SplitTensors(bytes, tensor_fields, split) || !parsed.message.ParseFromString(split.rest)) {
    return NotAMessage<Request>();
  }
  parsed.tensors = std::move(split.tensors);
  return parsed;
}

absl::Status SetProgram(const v1::Program& program, DecodedCall& call) {
  if (program.operations_size() > kMaxOperations) {
    return absl::InvalidArgumentError(absl::StrCat("program: has ", program.operations_size(),
                                                   " operations, allowed are ", kMaxOperations));
  }
  call.program.input_count = static_cast<uint32_t>(call.types.size());
  for (int k = 0; k < program.operations_size(); ++k) {
    absl::StatusOr<Operation> operation = DecodeOperation(program.operations(k));
    if (!operation.ok()) {
      return absl::Status(operation.status().code(),
                          absl::StrCat("operation ", k, ": ", operation.status().message()));
    }
    call.program.operations.push_back(*std::move(operation));
  }
  call.program.outputs.assign(program.outputs().begin(), program.outputs().end());
  if (call.program.outputs.empty() && !call.program.operations.empty()) {
    call.program.outputs = {
        static_cast<uint32_t>(call.program.input_count + call.program.operations.size() - 1)};
  }
  return absl::OkStatus();
}

// Makes the call's Program one operation of all its inputs.
void SetOneOperation(decltype(Operation::attributes) attributes, DecodedCall& call) {
  Operation operation{std::move(attributes), {}};
  call.program.input_count = static_cast<uint32_t>(call.types.size());
  for (uint32_t i = 0; i < call.program.input_count; ++i) operation.inputs.push_back(i);
  call.program.operations.push_back(std::move(operation));
  call.program.outputs = {call.program.input_count};
}

// Makes the call's Program one that returns its only input.
void SetIdentity(DecodedCall& call) {
  call.program.input_count = 1;
  call.program.outputs = {0};
}

// After the Program.
absl::Status SetOptions(const v1::CallOptions& options, DecodedCall& call) {
  call.want_receipt = options.want_receipt();
  call.session = options.session();
  if (options.has_output_area()) call.output_area = options.output_area();
  const size_t outputs = call.program.outputs.size();
  if (options.keep_outputs_size() > 0) call.keep_outputs.assign(outputs, false);
  for (const uint32_t output : options.keep_outputs()) {
    if (output >= outputs) {
      return absl::InvalidArgumentError(absl::StrCat("options: keep_outputs has ", output,
                                                     ", the call has ", outputs, " outputs"));
    }
    call.keep_outputs[output] = true;
  }
  return absl::OkStatus();
}

// A verb of one operation on `x`, whose attributes `decode` makes of the message.
template <typename Request, typename Decode>
absl::StatusOr<DecodedCall> DecodeOfX(absl::Span<const grpc::Slice> bytes, TensorSources& sources,
                                      Decode decode) {
  GPUCALL_ASSIGN_OR_RETURN(const auto parsed, Parse<Request>(bytes, {Request::kXFieldNumber}));
  DecodedCall call;
  GPUCALL_ASSIGN_OR_RETURN(auto attributes, decode(parsed.message));
  GPUCALL_RETURN_IF_ERROR(AddInput("x", parsed.Find(Request::kXFieldNumber), sources, call));
  SetOneOperation(std::move(attributes), call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(parsed.message.options(), call));
  return call;
}

}  // namespace

absl::StatusOr<DecodedCall> DecodeElementwiseRequest(absl::Span<const grpc::Slice> bytes,
                                                     TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(
      const auto parsed,
      Parse<v1::ElementwiseRequest>(bytes, {v1::ElementwiseRequest::kInputsFieldNumber}));
  const v1::ElementwiseRequest& request = parsed.message;
  DecodedCall call;
  GPUCALL_ASSIGN_OR_RETURN(auto operation, DecodeElementwise(request.op(), request.output_dtype()));
  GPUCALL_RETURN_IF_ERROR(AddInputs(parsed.tensors, sources, call));
  SetOneOperation(std::move(operation), call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(request.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodeMatMulRequest(absl::Span<const grpc::Slice> bytes,
                                                TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(
      const auto parsed,
      Parse<v1::MatMulRequest>(
          bytes, {v1::MatMulRequest::kAFieldNumber, v1::MatMulRequest::kBFieldNumber,
                  v1::MatMulRequest::kCFieldNumber, v1::MatMulRequest::kBiasFieldNumber}));
  const v1::MatMulRequest& request = parsed.message;
  DecodedCall call;
  GPUCALL_RETURN_IF_ERROR(
      AddInput("a", parsed.Find(v1::MatMulRequest::kAFieldNumber), sources, call));
  GPUCALL_RETURN_IF_ERROR(
      AddInput("b", parsed.Find(v1::MatMulRequest::kBFieldNumber), sources, call));
  GPUCALL_ASSIGN_OR_RETURN(const MatMulAttributes attributes, DecodeMatMul(request.attributes()));
  for (const auto& [name, field] : {std::pair("c", v1::MatMulRequest::kCFieldNumber),
                                    std::pair("bias", v1::MatMulRequest::kBiasFieldNumber)}) {
    if (const WireTensor* tensor = parsed.Find(field)) {
      GPUCALL_RETURN_IF_ERROR(AddInput(name, *tensor, sources, call));
    }
  }
  SetOneOperation(attributes, call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(request.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodeFilterRequest(absl::Span<const grpc::Slice> bytes,
                                                TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(
      const auto parsed, Parse<v1::FilterRequest>(bytes, {v1::FilterRequest::kImageFieldNumber,
                                                          v1::FilterRequest::kKernelFieldNumber}));
  const v1::FilterRequest& request = parsed.message;
  DecodedCall call;
  GPUCALL_ASSIGN_OR_RETURN(auto attributes, DecodeFilter(request.filter()));
  GPUCALL_RETURN_IF_ERROR(
      AddInput("image", parsed.Find(v1::FilterRequest::kImageFieldNumber), sources, call));
  if (const WireTensor* kernel = parsed.Find(v1::FilterRequest::kKernelFieldNumber)) {
    GPUCALL_RETURN_IF_ERROR(AddInput("kernel", *kernel, sources, call));
  }
  SetOneOperation(attributes, call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(request.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodeReduceRequest(absl::Span<const grpc::Slice> bytes,
                                                TensorSources& sources) {
  return DecodeOfX<v1::ReduceRequest>(bytes, sources, [](const v1::ReduceRequest& request) {
    return DecodeReduce(request.reduce());
  });
}

absl::StatusOr<DecodedCall> DecodeRearrangeRequest(absl::Span<const grpc::Slice> bytes,
                                                   TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(
      const auto parsed,
      Parse<v1::RearrangeRequest>(bytes, {v1::RearrangeRequest::kInputsFieldNumber}));
  DecodedCall call;
  GPUCALL_ASSIGN_OR_RETURN(RearrangeAttributes attributes,
                           DecodeRearrange(parsed.message.rearrange()));
  GPUCALL_RETURN_IF_ERROR(AddInputs(parsed.tensors, sources, call));
  SetOneOperation(std::move(attributes), call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(parsed.message.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodeSortRequest(absl::Span<const grpc::Slice> bytes,
                                              TensorSources& sources) {
  return DecodeOfX<v1::SortRequest>(bytes, sources, [](const v1::SortRequest& request) {
    return absl::StatusOr<SortAttributes>(DecodeSort(request.sort()));
  });
}

absl::StatusOr<DecodedCall> DecodeScanRequest(absl::Span<const grpc::Slice> bytes,
                                              TensorSources& sources) {
  return DecodeOfX<v1::ScanRequest>(
      bytes, sources, [](const v1::ScanRequest& request) { return DecodeScan(request.scan()); });
}

absl::StatusOr<DecodedCall> DecodeNetworkRequest(absl::Span<const grpc::Slice> bytes,
                                                 TensorSources& sources) {
  using Request = v1::NetworkRequest;
  GPUCALL_ASSIGN_OR_RETURN(const auto parsed, Parse<Request>(bytes, {Request::kXFieldNumber,
                                                                     Request::kWeightsFieldNumber,
                                                                     Request::kBiasFieldNumber}));
  DecodedCall call;
  GPUCALL_ASSIGN_OR_RETURN(const NetworkAttributes attributes,
                           DecodeNetwork(parsed.message.network()));
  GPUCALL_RETURN_IF_ERROR(AddInput("x", parsed.Find(Request::kXFieldNumber), sources, call));
  for (const auto& [name, field] : {std::pair("weights", Request::kWeightsFieldNumber),
                                    std::pair("bias", Request::kBiasFieldNumber)}) {
    if (const WireTensor* tensor = parsed.Find(field)) {
      GPUCALL_RETURN_IF_ERROR(AddInput(name, *tensor, sources, call));
    }
  }
  SetOneOperation(attributes, call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(parsed.message.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodeTakeRequest(absl::Span<const grpc::Slice> bytes,
                                              TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(const auto parsed,
                           Parse<v1::TakeRequest>(bytes, {v1::TakeRequest::kXFieldNumber,
                                                          v1::TakeRequest::kIndicesFieldNumber}));
  DecodedCall call;
  GPUCALL_RETURN_IF_ERROR(
      AddInput("x", parsed.Find(v1::TakeRequest::kXFieldNumber), sources, call));
  GPUCALL_RETURN_IF_ERROR(
      AddInput("indices", parsed.Find(v1::TakeRequest::kIndicesFieldNumber), sources, call));
  SetOneOperation(DecodeTake(parsed.message.take()), call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(parsed.message.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodeImageRequest(absl::Span<const grpc::Slice> bytes,
                                               TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(const auto parsed,
                           Parse<v1::ImageRequest>(bytes, {v1::ImageRequest::kImageFieldNumber}));
  DecodedCall call;
  GPUCALL_ASSIGN_OR_RETURN(const ImageAttributes attributes,
                           DecodeImage(parsed.message.operation()));
  GPUCALL_RETURN_IF_ERROR(
      AddInput("image", parsed.Find(v1::ImageRequest::kImageFieldNumber), sources, call));
  SetOneOperation(attributes, call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(parsed.message.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodeRunRequest(absl::Span<const grpc::Slice> bytes,
                                             TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(const auto parsed,
                           Parse<v1::RunRequest>(bytes, {v1::RunRequest::kInputsFieldNumber}));
  DecodedCall call;
  GPUCALL_RETURN_IF_ERROR(AddInputs(parsed.tensors, sources, call));
  GPUCALL_RETURN_IF_ERROR(SetProgram(parsed.message.program(), call));
  GPUCALL_RETURN_IF_ERROR(SetOptions(parsed.message.options(), call));
  return call;
}

absl::StatusOr<DecodedCall> DecodePutRequest(absl::Span<const grpc::Slice> bytes,
                                             TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(const auto parsed,
                           Parse<v1::PutRequest>(bytes, {v1::PutRequest::kTensorFieldNumber}));
  DecodedCall call;
  GPUCALL_RETURN_IF_ERROR(
      AddInput("tensor", parsed.Find(v1::PutRequest::kTensorFieldNumber), sources, call));
  SetIdentity(call);
  GPUCALL_RETURN_IF_ERROR(SetOptions(parsed.message.options(), call));
  call.keep_outputs = {true};
  return call;
}

absl::StatusOr<DecodedCall> DecodeGetRequest(absl::Span<const grpc::Slice> bytes,
                                             TensorSources& sources) {
  GPUCALL_ASSIGN_OR_RETURN(const auto parsed, Parse<v1::GetRequest>(bytes, {}));
  DecodedCall call;
  v1::Tensor tensor;
  tensor.set_handle(parsed.message.handle());
  GPUCALL_RETURN_IF_ERROR(AddResident("tensor", tensor, sources, call));
  SetIdentity(call);
  call.want_receipt = parsed.message.options().want_receipt();
  return call;
}

absl::StatusOr<DecodedStreamPart> DecodeStreamPart(absl::Span<const grpc::Slice> bytes,
                                                   TensorSources& sources) {
  StreamPart part;
  v1::RunStreamStart start;
  if (!ReadStreamPart(bytes, {v1::RunStreamStart::kInputsFieldNumber}, part) ||
      (part.start && !start.ParseFromString(part.start->rest))) {
    return NotAMessage<v1::RunStreamRequest>();
  }
  if (part.start.has_value() == part.chunk.has_value()) {
    return absl::InvalidArgumentError("request: part is not set, allowed are start and chunk");
  }
  DecodedStreamPart decoded;
  if (part.chunk) {
    decoded.chunk = std::move(part.chunk);
    return decoded;
  }
  DecodedStream& stream = decoded.start.emplace();
  stream.want_checksums = start.checksums();
  for (const WireTensor& tensor : part.start->tensors) {
    stream.is_streamed.push_back(!tensor.has_data && tensor.header.has_streamed());
  }
  GPUCALL_RETURN_IF_ERROR(AddInputs(part.start->tensors, sources, stream.call, Streaming::kYes));
  GPUCALL_RETURN_IF_ERROR(SetProgram(start.program(), stream.call));
  GPUCALL_RETURN_IF_ERROR(SetOptions(start.options(), stream.call));
  return decoded;
}

}  // namespace gpucall
