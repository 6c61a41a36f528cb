#include "server/program/composite.h"

#include <optional>
#include <utility>
#include <variant>

#include "server/program/creation.h"
#include "server/program/matmul.h"
#include "server/program/reduce.h"

namespace gpucall {
namespace {

class Expansion {
 public:
  Expansion(const FilterAttributes& filter, uint32_t image, uint32_t next)
      : filter_(filter), image_(image), next_(next) {}

  uint32_t Filter(FilterKind kind, uint32_t value, DType output) {
    FilterAttributes attributes = filter_;
    attributes.kind = kind;
    attributes.output_dtype = output;
    return Append({attributes, {value}});
  }
  uint32_t Derivative(int row_order, int column_order) {
    FilterAttributes attributes = filter_;
    attributes.kind = FilterKind::kGaussian;
    attributes.order = {row_order, column_order};
    attributes.output_dtype = DType::kFloat32;
    return Append({attributes, {image_}});
  }
  uint32_t Combine(ElementwiseOp op, uint32_t a, uint32_t b) { return Append({op, {a, b}}); }
  // a - b; of uint8 0 where b is larger.
  void Subtract(uint32_t a, uint32_t b, DType output) {
    if (output == DType::kUint8) a = Combine(ElementwiseOp::kMaximum, a, b);
    Combine(ElementwiseOp::kSubtract, a, b);
  }
  uint32_t Square(uint32_t a) { return Append({ElementwiseOp::kSquare, {a}}); }
  void Root(uint32_t a) { Append({ElementwiseOp::kSqrt, {a}}); }

  std::vector<Operation> Take() { return std::move(operations_); }

 private:
  uint32_t Append(Operation operation) {
    operations_.push_back(std::move(operation));
    return next_++;
  }

  const FilterAttributes& filter_;
  const uint32_t image_;
  uint32_t next_;
  std::vector<Operation> operations_;
};

// The comparison of b with a that says the same; none for other operations.
std::optional<ElementwiseOp> Mirrored(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kEqual:
    case ElementwiseOp::kNotEqual:
      return op;
    case ElementwiseOp::kLess:
      return ElementwiseOp::kGreater;
    case ElementwiseOp::kLessEqual:
      return ElementwiseOp::kGreaterEqual;
    case ElementwiseOp::kGreater:
      return ElementwiseOp::kLess;
    case ElementwiseOp::kGreaterEqual:
      return ElementwiseOp::kLessEqual;
    default:
      return std::nullopt;
  }
}

// `op` of an int64 and a uint64 value. One below zero is less than any uint64, others are uint64.
std::vector<Operation> CompareBySign(ElementwiseOp op, uint32_t signed_value,
                                     uint32_t unsigned_value, uint32_t next) {
  const bool true_below_zero = op == ElementwiseOp::kLess || op == ElementwiseOp::kLessEqual ||
                               op == ElementwiseOp::kNotEqual;
  return {{ElementwiseOp::kSignbit, {signed_value}},
          {CastAttributes{DType::kUint64}, {signed_value}},
          {op, {next + 1, unsigned_value}},
          // Of bools: less is "not a, but b".
          {true_below_zero ? ElementwiseOp::kLogicalOr : ElementwiseOp::kLess, {next, next + 2}}};
}

std::vector<Operation> ExpandElementwise(const Operation& operation, ElementwiseOp op,
                                         absl::Span<const DType> operands, uint32_t next) {
  const auto mirrored = Mirrored(op);
  if (!mirrored.has_value()) return {operation};
  const uint32_t a = operation.inputs[0], b = operation.inputs[1];
  if (operands[0] == DType::kInt64 && operands[1] == DType::kUint64) {
    return CompareBySign(op, a, b, next);
  }
  if (operands[0] == DType::kUint64 && operands[1] == DType::kInt64) {
    return CompareBySign(*mirrored, b, a, next);
  }
  return {operation};
}

// Through the dtype whose kernels there are.
std::vector<Operation> ExpandReduce(const Operation& operation, ReduceOp op, DType dtype,
                                    uint32_t next) {
  const DType reduced_in = ReducedIn(dtype), result = ReduceResult(op, dtype);
  if (reduced_in == dtype) return {operation};
  std::vector<Operation> operations = {{CastAttributes{reduced_in}, operation.inputs},
                                       {operation.attributes, {next}}};
  if (ReduceResult(op, reduced_in) != result) {
    operations.push_back({CastAttributes{result}, {next + 1}});
  }
  return operations;
}

// Halves through float32.
std::vector<Operation> ExpandScan(const Operation& operation, DType dtype, uint32_t next) {
  if (!IsFloating(dtype) || ElementSize(dtype) != 2) return {operation};
  return {{CastAttributes{DType::kFloat32}, operation.inputs},
          {operation.attributes, {next}},
          {CastAttributes{dtype}, {next + 1}}};
}

}  // namespace

std::vector<Operation> Expand(const Operation& operation, absl::Span<const DType> operands,
                              uint32_t next) {
  if (const auto* op = std::get_if<ElementwiseOp>(&operation.attributes)) {
    return ExpandElementwise(operation, *op, operands, next);
  }
  if (const auto* reduce = std::get_if<ReduceAttributes>(&operation.attributes)) {
    return ExpandReduce(operation, reduce->op, operands[0], next);
  }
  if (std::holds_alternative<CreationAttributes>(operation.attributes)) {
    return ExpandCreation(operation, next);
  }
  if (std::holds_alternative<MatMulAttributes>(operation.attributes)) {
    return ExpandMatMul(operation, operands, next);
  }
  if (std::holds_alternative<ScanAttributes>(operation.attributes)) {
    return ExpandScan(operation, operands[0], next);
  }
  const auto* filter = std::get_if<FilterAttributes>(&operation.attributes);
  if (filter == nullptr) return {operation};
  const DType image = operands[0];
  constexpr FilterKind kErosion = FilterKind::kGreyErosion, kDilation = FilterKind::kGreyDilation;
  const uint32_t input = operation.inputs[0];
  const DType output = filter->output_dtype == DType::kUnspecified ? image : filter->output_dtype;
  Expansion all(*filter, input, next);
  switch (filter->kind) {
    case FilterKind::kGreyOpening:
      all.Filter(kDilation, all.Filter(kErosion, input, image), output);
      break;
    case FilterKind::kGreyClosing:
      all.Filter(kErosion, all.Filter(kDilation, input, image), output);
      break;
    case FilterKind::kMorphologicalGradient: {
      const uint32_t dilated = all.Filter(kDilation, input, output);
      all.Subtract(dilated, all.Filter(kErosion, input, output), output);
      break;
    }
    case FilterKind::kWhiteTophat: {
      const uint32_t opened = all.Filter(kDilation, all.Filter(kErosion, input, image), output);
      all.Subtract(input, opened, output);
      break;
    }
    case FilterKind::kBlackTophat: {
      const uint32_t closed = all.Filter(kErosion, all.Filter(kDilation, input, image), output);
      all.Subtract(closed, input, output);
      break;
    }
    case FilterKind::kGaussianLaplace: {
      const uint32_t rows = all.Derivative(2, 0);
      all.Combine(ElementwiseOp::kAdd, rows, all.Derivative(0, 2));
      break;
    }
    case FilterKind::kGaussianGradientMagnitude: {
      const uint32_t rows = all.Square(all.Derivative(1, 0));
      const uint32_t columns = all.Square(all.Derivative(0, 1));
      all.Root(all.Combine(ElementwiseOp::kAdd, rows, columns));
      break;
    }
    default:
      return {operation};
  }
  return all.Take();
}

}  // namespace gpucall
