#include "server/program/composite.h"

#include <utility>
#include <variant>

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

}  // namespace

std::vector<Operation> Expand(const Operation& operation, DType image, uint32_t next) {
  const auto* filter = std::get_if<FilterAttributes>(&operation.attributes);
  if (filter == nullptr) return {operation};
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
