#include "gpucall/request.h"

#include "client/cpp/encoded_request.h"
#include "client/cpp/wire.h"

namespace gpucall {
inline namespace client {
namespace {

template <typename Message>
std::vector<TensorField> Inputs(absl::Span<const TensorRef> inputs) {
  std::vector<TensorField> fields;
  for (const TensorRef& input : inputs) fields.push_back({Message::kInputsFieldNumber, &input});
  return fields;
}

}  // namespace

Request Request::Elementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs) {
  v1::ElementwiseRequest message;
  message.set_op(ToWire(op));
  return Request(std::make_shared<Encoded>(
      "/gpucall.v1.Compute/Elementwise", Encode(message, Inputs<v1::ElementwiseRequest>(inputs))));
}

Request Request::Cast(const TensorRef& x, DType dtype) {
  v1::ElementwiseRequest message;
  message.set_op(v1::ELEMENTWISE_OP_CAST);
  message.set_output_dtype(static_cast<v1::DType>(dtype));
  return Request(std::make_shared<Encoded>("/gpucall.v1.Compute/Elementwise",
                                           Encode(message, Inputs<v1::ElementwiseRequest>({x}))));
}

Request Request::MatMul(const TensorRef& a, const TensorRef& b, const MatMulOptions& options) {
  v1::MatMulRequest message;
  *message.mutable_attributes() = ToWire(options);
  return Request(std::make_shared<Encoded>(
      "/gpucall.v1.Compute/MatMul", Encode(message, {{v1::MatMulRequest::kAFieldNumber, &a},
                                                     {v1::MatMulRequest::kBFieldNumber, &b}})));
}

Request Request::Filter(const TensorRef& image, const FilterOptions& filter) {
  v1::FilterRequest message;
  *message.mutable_filter() = ToWire(filter);
  return Request(
      std::make_shared<Encoded>("/gpucall.v1.Compute/Filter",
                                Encode(message, {{v1::FilterRequest::kImageFieldNumber, &image}})));
}

Request Request::Filter(const TensorRef& image, const TensorRef& kernel,
                        const FilterOptions& filter) {
  v1::FilterRequest message;
  *message.mutable_filter() = ToWire(filter);
  return Request(std::make_shared<Encoded>(
      "/gpucall.v1.Compute/Filter",
      Encode(message, {{v1::FilterRequest::kImageFieldNumber, &image},
                       {v1::FilterRequest::kKernelFieldNumber, &kernel}})));
}

Request Request::Run(const Program& program, absl::Span<const TensorRef> inputs) {
  v1::RunRequest message;
  *message.mutable_program() = ToWire(program);
  return Request(std::make_shared<Encoded>("/gpucall.v1.Compute/Run",
                                           Encode(message, Inputs<v1::RunRequest>(inputs))));
}

}  // namespace client
}  // namespace gpucall
