#include "client/cpp/encoded_request.h"

#include <memory>
#include <utility>

#include "client/cpp/wire.h"
#include "gpucall/memory.h"
#include "gpucall/v1/compute.pb.h"

namespace gpucall {
inline namespace client {
namespace {

// A Program of one operation, of all inputs in their order.
v1::Program OneOperation(v1::Operation operation, size_t input_count) {
  for (size_t i = 0; i < input_count; ++i) operation.add_inputs(static_cast<uint32_t>(i));
  v1::Program program;
  *program.add_operations() = std::move(operation);
  return program;
}

EncodedRequest EncodeElementwise(v1::ElementwiseOp op, v1::DType output_dtype,
                                 absl::Span<const TensorRef> inputs) {
  v1::ElementwiseRequest message;
  message.set_op(op);
  message.set_output_dtype(output_dtype);
  v1::Operation operation;
  operation.set_elementwise(op);
  operation.set_output_dtype(output_dtype);
  return {.method = "/gpucall.v1.Compute/Elementwise",
          .rest = message.SerializeAsString(),
          .fields = std::vector<int>(inputs.size(), v1::ElementwiseRequest::kInputsFieldNumber),
          .inputs = {inputs.begin(), inputs.end()},
          .program = OneOperation(std::move(operation), inputs.size())};
}

}  // namespace

int64_t EncodedRequest::InputBytes() const {
  int64_t size_bytes = 0;
  for (const TensorRef& input : inputs) {
    if (!input.is_resident()) size_bytes += static_cast<int64_t>(input.bytes().size());
  }
  return size_bytes;
}

EncodedRequest EncodeElementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs) {
  return EncodeElementwise(ToWire(op), v1::DTYPE_UNSPECIFIED, inputs);
}

EncodedRequest EncodeCast(const TensorRef& x, DType dtype) {
  return EncodeElementwise(v1::ELEMENTWISE_OP_CAST, static_cast<v1::DType>(dtype), {x});
}

EncodedRequest EncodeMatMul(absl::Span<const TensorRef> operands, const MatMulOptions& options) {
  v1::MatMulRequest message;
  *message.mutable_attributes() = ToWire(options);
  v1::Operation operation;
  *operation.mutable_matmul() = message.attributes();
  std::vector<int> fields = {v1::MatMulRequest::kAFieldNumber, v1::MatMulRequest::kBFieldNumber};
  if (options.addend) fields.push_back(v1::MatMulRequest::kCFieldNumber);
  if (options.bias) fields.push_back(v1::MatMulRequest::kBiasFieldNumber);
  fields.resize(operands.size(), v1::MatMulRequest::kBiasFieldNumber);
  return {.method = "/gpucall.v1.Compute/MatMul",
          .rest = message.SerializeAsString(),
          .fields = std::move(fields),
          .inputs = {operands.begin(), operands.end()},
          .program = OneOperation(std::move(operation), operands.size())};
}

EncodedRequest EncodeFilter(absl::Span<const TensorRef> inputs, const FilterOptions& filter) {
  v1::FilterRequest message;
  *message.mutable_filter() = ToWire(filter);
  v1::Operation operation;
  *operation.mutable_filter() = message.filter();
  std::vector<int> fields = {v1::FilterRequest::kImageFieldNumber,
                             v1::FilterRequest::kKernelFieldNumber};
  fields.resize(inputs.size());
  return {.method = "/gpucall.v1.Compute/Filter",
          .rest = message.SerializeAsString(),
          .fields = std::move(fields),
          .inputs = {inputs.begin(), inputs.end()},
          .program = OneOperation(std::move(operation), inputs.size())};
}

EncodedRequest EncodeSort(const TensorRef& x, const SortOptions& options) {
  v1::SortRequest message;
  *message.mutable_sort() = ToWire(options);
  v1::Operation operation;
  *operation.mutable_sort() = message.sort();
  return {.method = "/gpucall.v1.Compute/Sort",
          .rest = message.SerializeAsString(),
          .fields = {v1::SortRequest::kXFieldNumber},
          .inputs = {x},
          .program = OneOperation(std::move(operation), 1),
          .owner = nullptr};
}

EncodedRequest EncodeScan(const TensorRef& x, const ScanOptions& options) {
  v1::ScanRequest message;
  *message.mutable_scan() = ToWire(options);
  v1::Operation operation;
  *operation.mutable_scan() = message.scan();
  return {.method = "/gpucall.v1.Compute/Scan",
          .rest = message.SerializeAsString(),
          .fields = {v1::ScanRequest::kXFieldNumber},
          .inputs = {x},
          .program = OneOperation(std::move(operation), 1),
          .owner = nullptr};
}

EncodedRequest EncodeTake(const TensorRef& x, const TensorRef& indices,
                          const TakeOptions& options) {
  v1::TakeRequest message;
  *message.mutable_take() = ToWire(options);
  v1::Operation operation;
  *operation.mutable_take() = message.take();
  return {.method = "/gpucall.v1.Compute/Take",
          .rest = message.SerializeAsString(),
          .fields = {v1::TakeRequest::kXFieldNumber, v1::TakeRequest::kIndicesFieldNumber},
          .inputs = {x, indices},
          .program = OneOperation(std::move(operation), 2),
          .owner = nullptr};
}

EncodedRequest EncodeNetwork(absl::Span<const TensorRef> operands, const NetworkOptions& options) {
  v1::NetworkRequest message;
  *message.mutable_network() = ToWire(options);
  v1::Operation operation;
  *operation.mutable_network() = message.network();
  std::vector<int> fields = {v1::NetworkRequest::kXFieldNumber,
                             v1::NetworkRequest::kWeightsFieldNumber,
                             v1::NetworkRequest::kBiasFieldNumber};
  fields.resize(operands.size(), v1::NetworkRequest::kBiasFieldNumber);
  return {.method = "/gpucall.v1.Compute/Network",
          .rest = message.SerializeAsString(),
          .fields = std::move(fields),
          .inputs = {operands.begin(), operands.end()},
          .program = OneOperation(std::move(operation), operands.size()),
          .owner = nullptr};
}

EncodedRequest EncodeRun(const Program& program, absl::Span<const TensorRef> inputs) {
  v1::RunRequest message;
  *message.mutable_program() = ToWire(program);
  return {.method = "/gpucall.v1.Compute/Run",
          .rest = message.SerializeAsString(),
          .fields = std::vector<int>(inputs.size(), v1::RunRequest::kInputsFieldNumber),
          .inputs = {inputs.begin(), inputs.end()},
          .program = std::move(*message.mutable_program())};
}

EncodedRequest WithCopies(EncodedRequest request) {
  auto copies = std::make_shared<std::vector<Memory>>();
  for (TensorRef& input : request.inputs) {
    if (input.is_resident()) continue;
    const Memory& copy = copies->emplace_back(Memory::CopyOf(input.bytes()));
    input = TensorRef(input.dtype(), input.shape(), copy.bytes());
  }
  request.owner = std::move(copies);
  return request;
}

}  // namespace client
}  // namespace gpucall
