// Several operations in one round trip.
#ifndef GPUCALL_PROGRAM_H_
#define GPUCALL_PROGRAM_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "gpucall/operations.h"

namespace gpucall {
inline namespace client {

// Operations in the order they run. Results stay on the server's device but for the outputs, and
// elementwise operations that follow each other run as one pass over memory. Not thread-safe while
// it is built. Nothing is checked here: the server answers INVALID_ARGUMENT, naming the operation.
//
//   Program program(3);  // three inputs
//   auto product = program.MatMul(program.input(0), program.input(1));
//   program.Output(program.Relu(program.Add(product, program.input(2))));
//   client.Run(program, {x, weights, bias});
class Program {
 public:
  // An input or the result of an operation, of the Program that made it.
  struct Value {
    uint32_t number;
  };
  struct Operation {
    std::variant<ElementwiseOp, CastOptions, MatMulOptions, FilterOptions, SortOptions, ScanOptions,
                 TakeOptions, NetworkOptions>
        attributes;
    std::vector<uint32_t> inputs;
  };

  explicit Program(uint32_t input_count) : input_count_(input_count) {}

  Value input(uint32_t index) const { return {index}; }
  Value Elementwise(ElementwiseOp op, absl::Span<const Value> inputs) { return Append(op, inputs); }
  Value Cast(Value x, DType dtype) { return Append(CastOptions{dtype}, {x}); }
  Value MatMul(Value a, Value b, const MatMulOptions& options = {}) {
    return Append(options, {a, b});
  }
  // Of a, b, and the addend and the bias that the options ask for.
  Value MatMul(absl::Span<const Value> operands, const MatMulOptions& options) {
    return Append(options, operands);
  }
  Value Filter(Value image, const FilterOptions& filter) { return Append(filter, {image}); }
  // Correlate and Convolve.
  Value Filter(Value image, Value kernel, const FilterOptions& filter) {
    return Append(filter, {image, kernel});
  }

  Value Sort(Value x, const SortOptions& options = {}) { return Append(options, {x}); }
  Value Scan(Value x, const ScanOptions& options) { return Append(options, {x}); }
  Value Take(Value x, Value indices, const TakeOptions& options = {}) {
    return Append(options, {x, indices});
  }
  // Of (x), or of convolutions (x, weights) and then a bias.
  Value Network(absl::Span<const Value> operands, const NetworkOptions& options) {
    return Append(options, operands);
  }
  // The `k` largest elements of each line, the largest first, and their int64 indices.
  struct TopKValues {
    Value values, indices;
  };
  TopKValues TopK(Value x, int64_t k, const TopKOptions& options = {}) {
    const Value indices =
        Sort(x, {.axis = options.axis, .descending = options.largest, .indices = true, .count = k});
    return {Take(x, indices, {.axis = options.axis, .along = true}), indices};
  }

  // One function for each elementwise operation: Exp(x), Add(a, b), Where(condition, x, y).
#define GPUCALL_ARITY_1(Function) \
  Value Function(Value x) { return Append(ElementwiseOp::k##Function, {x}); }
#define GPUCALL_ARITY_2(Function) \
  Value Function(Value a, Value b) { return Append(ElementwiseOp::k##Function, {a, b}); }
#define GPUCALL_ARITY_3(Function)                         \
  Value Function(Value a, Value b, Value c) {             \
    return Append(ElementwiseOp::k##Function, {a, b, c}); \
  }
#define GPUCALL_ELEMENTWISE_CAST(...)
#define GPUCALL_ELEMENTWISE(Function, name, arity, ...) GPUCALL_ARITY_##arity(Function)
#include "gpucall/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
#undef GPUCALL_ARITY_1
#undef GPUCALL_ARITY_2
#undef GPUCALL_ARITY_3

  // Sends `value` back, after the outputs named before it. Without any, the last operation's
  // result.
  void Output(Value value) { outputs_.push_back(value.number); }

  uint32_t input_count() const { return input_count_; }
  absl::Span<const Operation> operations() const { return operations_; }
  absl::Span<const uint32_t> outputs() const { return outputs_; }

 private:
  template <typename Attributes>
  Value Append(const Attributes& attributes, absl::Span<const Value> inputs) {
    Operation& operation = operations_.emplace_back(Operation{attributes, {}});
    for (Value value : inputs) operation.inputs.push_back(value.number);
    return {input_count_ + static_cast<uint32_t>(operations_.size()) - 1};
  }

  uint32_t input_count_;
  std::vector<Operation> operations_;
  std::vector<uint32_t> outputs_;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_PROGRAM_H_
