#include "server/service/decode.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/decode_operation.h"

namespace gpucall {
namespace {

absl::Status AddInput(absl::string_view name, const v1::Tensor& tensor, DecodedCall& call) {
  GPUCALL_ASSIGN_OR_RETURN(const DType dtype, DecodeDType(name, tensor.dtype()));
  const absl::Span<const int64_t> shape(tensor.shape().data(), tensor.shape_size());
  GPUCALL_ASSIGN_OR_RETURN(const int64_t size_bytes, CheckedSizeBytes(name, dtype, shape));
  if (tensor.source_case() != v1::Tensor::kData) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": source is not set, allowed is data"));
  }
  const std::string& data = tensor.data();
  if (static_cast<int64_t>(data.size()) != size_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": data has ", data.size(),
                                                   " bytes, shape ", ShapeString(shape), " of ",
                                                   DTypeName(dtype), " needs ", size_bytes));
  }
  call.types.push_back({dtype, Shape(shape.begin(), shape.end())});
  call.views.push_back({data.data(), size_bytes});
  return absl::OkStatus();
}

template <typename Tensors>
absl::Status AddInputs(const Tensors& tensors, DecodedCall& call) {
  if (tensors.size() > kMaxProgramValues) {
    return absl::InvalidArgumentError(
        absl::StrCat("inputs: has ", tensors.size(), " tensors, allowed are ", kMaxProgramValues));
  }
  for (int i = 0; i < tensors.size(); ++i) {
    GPUCALL_RETURN_IF_ERROR(AddInput(absl::StrCat("inputs[", i, "]"), tensors[i], call));
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

}  // namespace

absl::StatusOr<DecodedCall> Decode(const v1::ElementwiseRequest& request) {
  DecodedCall call;
  call.want_receipt = request.options().want_receipt();
  GPUCALL_ASSIGN_OR_RETURN(auto operation, DecodeElementwise(request.op(), request.output_dtype()));
  GPUCALL_RETURN_IF_ERROR(AddInputs(request.inputs(), call));
  SetOneOperation(std::move(operation), call);
  return call;
}

absl::StatusOr<DecodedCall> Decode(const v1::MatMulRequest& request) {
  DecodedCall call;
  call.want_receipt = request.options().want_receipt();
  GPUCALL_RETURN_IF_ERROR(AddInput("a", request.a(), call));
  GPUCALL_RETURN_IF_ERROR(AddInput("b", request.b(), call));
  SetOneOperation(DecodeMatMul(request.attributes()), call);
  return call;
}

absl::StatusOr<DecodedCall> Decode(const v1::FilterRequest& request) {
  DecodedCall call;
  call.want_receipt = request.options().want_receipt();
  GPUCALL_ASSIGN_OR_RETURN(const FilterAttributes attributes, DecodeFilter(request.filter()));
  GPUCALL_RETURN_IF_ERROR(AddInput("image", request.image(), call));
  if (request.has_kernel()) GPUCALL_RETURN_IF_ERROR(AddInput("kernel", request.kernel(), call));
  SetOneOperation(attributes, call);
  return call;
}

absl::StatusOr<DecodedCall> Decode(const v1::RunRequest& request) {
  DecodedCall call;
  call.want_receipt = request.options().want_receipt();
  if (request.program().operations_size() > kMaxOperations) {
    return absl::InvalidArgumentError(absl::StrCat("program: has ",
                                                   request.program().operations_size(),
                                                   " operations, allowed are ", kMaxOperations));
  }
  GPUCALL_RETURN_IF_ERROR(AddInputs(request.inputs(), call));
  call.program.input_count = static_cast<uint32_t>(request.inputs_size());
  for (int k = 0; k < request.program().operations_size(); ++k) {
    absl::StatusOr<Operation> operation = DecodeOperation(request.program().operations(k));
    if (!operation.ok()) {
      return absl::Status(operation.status().code(),
                          absl::StrCat("operation ", k, ": ", operation.status().message()));
    }
    call.program.operations.push_back(*std::move(operation));
  }
  call.program.outputs.assign(request.program().outputs().begin(),
                              request.program().outputs().end());
  if (call.program.outputs.empty() && !call.program.operations.empty()) {
    call.program.outputs = {
        static_cast<uint32_t>(call.program.input_count + call.program.operations.size() - 1)};
  }
  return call;
}

}  // namespace gpucall
