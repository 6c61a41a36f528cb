// A call ready to be sent, once or many times.
#ifndef GPUCALL_REQUEST_H_
#define GPUCALL_REQUEST_H_

#include <memory>

#include "absl/types/span.h"
#include "gpucall/operations.h"
#include "gpucall/program.h"
#include "gpucall/tensor.h"

namespace gpucall {
inline namespace client {

struct EncodedRequest;

// Immutable and cheap to copy; threads share it freely. Building one copies the inputs' elements
// and owns the copies, sending one copies nothing. TensorHandles among them must outlive it. (A
// verb of Client, which blocks, copies nothing at all.)
class Request {
 public:
  static Request Elementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs);
  static Request Cast(const TensorRef& x, DType dtype);
  static Request MatMul(const TensorRef& a, const TensorRef& b, const MatMulOptions& options = {});
  // Of a, b, and the addend and the bias that the options ask for.
  static Request MatMul(absl::Span<const TensorRef> operands, const MatMulOptions& options);
  static Request Filter(const TensorRef& image, const FilterOptions& filter);
  // Correlate and Convolve.
  static Request Filter(const TensorRef& image, const TensorRef& kernel,
                        const FilterOptions& filter);
  static Request Sort(const TensorRef& x, const SortOptions& options = {});
  static Request Scan(const TensorRef& x, const ScanOptions& options);
  static Request Take(const TensorRef& x, const TensorRef& indices,
                      const TakeOptions& options = {});
  // Of (x), or of convolutions (x, weights) and then a bias.
  static Request Network(absl::Span<const TensorRef> operands, const NetworkOptions& options);
  static Request Run(const Program& program, absl::Span<const TensorRef> inputs);

 private:
  friend class Client;
  explicit Request(EncodedRequest request);

  std::shared_ptr<const EncodedRequest> encoded_;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_REQUEST_H_
