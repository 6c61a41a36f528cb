#include "gpucall/request.h"

#include "client/cpp/encoded_request.h"

namespace gpucall {
inline namespace client {

Request::Request(EncodedRequest request)
    : encoded_(std::make_shared<const EncodedRequest>(WithCopies(std::move(request)))) {}

Request Request::Elementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs) {
  return Request(EncodeElementwise(op, inputs));
}
Request Request::Cast(const TensorRef& x, DType dtype) { return Request(EncodeCast(x, dtype)); }
Request Request::MatMul(const TensorRef& a, const TensorRef& b, const MatMulOptions& options) {
  return Request(EncodeMatMul({a, b}, options));
}
Request Request::MatMul(absl::Span<const TensorRef> operands, const MatMulOptions& options) {
  return Request(EncodeMatMul(operands, options));
}
Request Request::Filter(const TensorRef& image, const FilterOptions& filter) {
  return Request(EncodeFilter({image}, filter));
}
Request Request::Filter(const TensorRef& image, const TensorRef& kernel,
                        const FilterOptions& filter) {
  return Request(EncodeFilter({image, kernel}, filter));
}
Request Request::Sort(const TensorRef& x, const SortOptions& options) {
  return Request(EncodeSort(x, options));
}
Request Request::Scan(const TensorRef& x, const ScanOptions& options) {
  return Request(EncodeScan(x, options));
}
Request Request::Take(const TensorRef& x, const TensorRef& indices, const TakeOptions& options) {
  return Request(EncodeTake(x, indices, options));
}
Request Request::Network(absl::Span<const TensorRef> operands, const NetworkOptions& options) {
  return Request(EncodeNetwork(operands, options));
}
Request Request::Run(const Program& program, absl::Span<const TensorRef> inputs) {
  return Request(EncodeRun(program, inputs));
}

}  // namespace client
}  // namespace gpucall
