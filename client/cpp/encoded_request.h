// What a Request holds: a call, as a unary message of its verb and as a Program for RunStream.
#ifndef GPUCALL_CLIENT_CPP_ENCODED_REQUEST_H_
#define GPUCALL_CLIENT_CPP_ENCODED_REQUEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/cpp/arena.h"
#include "client/cpp/message_writer.h"
#include "gpucall/operations.h"
#include "gpucall/program.h"
#include "gpucall/tensor.h"
#include "gpucall/v1/operation.pb.h"
#include "gpucall/v1/tensor.pb.h"

namespace gpucall {
inline namespace client {

// Where a call's tensors are in shared memory.
struct SharedTensors {
  std::shared_ptr<Arena> arena;
  std::vector<std::optional<v1::Region>> inputs;  // none: it is in the message
  std::vector<std::shared_ptr<char>> copies;      // of inputs
  std::shared_ptr<char> results;                  // null: they are in the reply
  v1::Area area;                                  // the same
};

struct EncodedRequest {
  std::string method;       // "/gpucall.v1.Compute/Run"
  std::string rest;         // the message of `method` but for the inputs
  std::vector<int> fields;  // of `method`'s message, one for each input
  std::vector<TensorRef> inputs;
  v1::Program program;                                    // the same call for RunStream
  Owner owner = nullptr;                                  // keeps the inputs' elements
  std::shared_ptr<const SharedTensors> shared = nullptr;  // null: all tensors are in the message
  bool is_borrowed = false;  // `owner` stands for the caller, who waits until it is let go

  int64_t InputBytes() const;
};

// Refer to the caller's elements: `owner` is not set.
EncodedRequest EncodeElementwise(ElementwiseOp op, absl::Span<const TensorRef> inputs);
EncodedRequest EncodeCast(const TensorRef& x, DType dtype);
// a, b, and the addend and the bias that the options ask for.
EncodedRequest EncodeMatMul(absl::Span<const TensorRef> operands, const MatMulOptions& options);
// The image, and the kernel of a filter that takes one.
EncodedRequest EncodeFilter(absl::Span<const TensorRef> inputs, const FilterOptions& filter);
EncodedRequest EncodeSort(const TensorRef& x, const SortOptions& options);
EncodedRequest EncodeScan(const TensorRef& x, const ScanOptions& options);
EncodedRequest EncodeTake(const TensorRef& x, const TensorRef& indices, const TakeOptions& options);
EncodedRequest EncodeNetwork(absl::Span<const TensorRef> operands, const NetworkOptions& options);
EncodedRequest EncodeRun(const Program& program, absl::Span<const TensorRef> inputs);

// Copies the elements, and owns the copies.
EncodedRequest WithCopies(EncodedRequest request);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_ENCODED_REQUEST_H_
