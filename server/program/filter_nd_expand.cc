#include <algorithm>
#include <utility>

#include "server/program/filter_kinds.h"
#include "server/program/filter_nd.h"
#include "server/program/filter_weights.h"

namespace gpucall {
namespace {

constexpr double kNoSmoothing = 1e-15;  // scipy.ndimage's

// The dtype that filters work in for images of, or results of, `dtype`: halves go through float32.
DType WorkDType(DType dtype) {
  return IsFloating(dtype) && ElementSize(dtype) == 2 ? DType::kFloat32 : dtype;
}

struct Value {
  uint32_t number;
  DType dtype;
};

// Methods append operations, and return the value that the last makes.
class Expansion {
 public:
  Expansion(const NdFilter& filter, uint32_t next)
      : filter_(filter), work_(WorkDType(filter.output)), next_(next) {}

  Value Cast(Value value, DType to) {
    return value.dtype == to ? value : Append({CastAttributes{to}, {value.number}}, to);
  }
  Value Combine(ElementwiseOp op, Value a, Value b) {
    return Append({op, {a.number, b.number}}, a.dtype);
  }
  Value Apply(ElementwiseOp op, Value a) { return Append({op, {a.number}}, a.dtype); }
  // The last operation makes the result.
  void Finish(Value value) {
    if (operations_.empty() || value.number + 1 != next_ || value.dtype != filter_.output) {
      Append({CastAttributes{filter_.output}, {value.number}}, filter_.output);
    }
  }

  // Along axis number `i`.
  Value Sum(Value value, size_t i, std::vector<double> weights, DType output) {
    LineFilterAttributes line = LineAlong(i);
    line.size = static_cast<int64_t>(weights.size());
    line.before = filter_.before.empty() ? line.size / 2 : filter_.before[i];
    line.weights = std::move(weights);
    line.output_dtype = output;
    return Append({std::move(line), {value.number}}, output);
  }
  Value Mean(Value value, size_t i) {
    LineFilterAttributes line = LineAlong(i);
    line.size = filter_.size[i];
    line.before = filter_.before[i];
    line.weights.assign(static_cast<size_t>(line.size), 1.0);
    line.divisor = static_cast<double>(line.size);
    line.output_dtype = work_;
    return Append({std::move(line), {value.number}}, work_);
  }
  // Of the window, or the mirrored one.
  Value Extreme(Value value, LineFilterAttributes::Op op, bool mirror) {
    const bool largest = op == LineFilterAttributes::Op::kMaximum;
    if (!filter_.footprint.empty()) return Ranked(value, largest ? filter_.rank : 0, mirror);
    for (size_t i = 0; i < filter_.axes.size(); ++i) {
      if (filter_.size[i] == 1) continue;
      LineFilterAttributes line = LineAlong(i);
      line.op = op;
      line.size = filter_.size[i];
      line.before = mirror ? filter_.before_mirrored[i] : filter_.before[i];
      value = Append({std::move(line), {value.number}}, value.dtype);
    }
    return value;
  }
  Value Erode(Value value) { return Extreme(value, LineFilterAttributes::Op::kMinimum, false); }
  Value Dilate(Value value) { return Extreme(value, LineFilterAttributes::Op::kMaximum, true); }
  Value Ranked(Value value, int64_t rank, bool mirror) {
    WindowFilterAttributes window = WindowOver(mirror);
    window.rank = rank;
    window.footprint = filter_.footprint;
    if (mirror) std::reverse(window.footprint.begin(), window.footprint.end());
    return Append({std::move(window), {value.number}}, value.dtype);
  }
  Value Dense(Value value, Value kernel, bool flip) {
    WindowFilterAttributes window = WindowOver(flip);
    window.form = WindowFilterAttributes::Form::kSum;
    window.flip = flip;
    window.output_dtype = work_;
    return Append({std::move(window), {value.number, kernel.number}}, work_);
  }

  DType work() const { return work_; }  // between passes
  std::vector<Operation> Take() { return std::move(operations_); }

 private:
  Value Append(Operation operation, DType dtype) {
    operations_.push_back(std::move(operation));
    return {next_++, dtype};
  }
  LineFilterAttributes LineAlong(size_t i) const {
    LineFilterAttributes line;
    line.axis = filter_.axes[i];
    line.mode = filter_.modes[i];
    line.cval = filter_.cval;
    return line;
  }
  WindowFilterAttributes WindowOver(bool mirror) const {
    WindowFilterAttributes window;
    window.axes = filter_.axes;
    window.size = filter_.size;
    window.before = mirror ? filter_.before_mirrored : filter_.before;
    window.modes = filter_.modes;
    window.cval = filter_.cval;
    return window;
  }

  const NdFilter& filter_;
  const DType work_;
  uint32_t next_;
  std::vector<Operation> operations_;
};

Value Smooth(Expansion& all, const NdFilter& filter, Value x) {
  for (size_t i = 0; i < filter.axes.size(); ++i) {
    if (filter.sigma[i] > kNoSmoothing) x = all.Sum(x, i, filter.weights[i], all.work());
  }
  return x;
}

// A Gaussian's derivative along axis number `along`.
Value GaussianDerivative(Expansion& all, const NdFilter& filter, Value x, size_t along, int order) {
  for (size_t i = 0; i < filter.axes.size(); ++i) {
    if (!(filter.sigma[i] > kNoSmoothing)) continue;
    const auto weights = GaussianWeights("", filter.sigma[i], filter.truncate,
                                         i == along ? order : 0, "");  // checked
    x = all.Sum(x, i, *weights, all.work());
  }
  return all.Cast(x, all.work());
}

// The sum over all axes of what `along` gives for each.
template <typename Along>
Value SumOverAxes(Expansion& all, const NdFilter& filter, Value x, Along along) {
  if (filter.axes.empty()) return x;
  Value sum = along(0);
  for (size_t i = 1; i < filter.axes.size(); ++i) {
    sum = all.Combine(ElementwiseOp::kAdd, sum, along(i));
  }
  return sum;
}

Value Laplace(Expansion& all, const NdFilter& filter, Value x) {
  return SumOverAxes(all, filter, x,
                     [&](size_t i) { return GaussianDerivative(all, filter, x, i, 2); });
}

Value GradientMagnitude(Expansion& all, const NdFilter& filter, Value x) {
  if (filter.axes.empty()) return x;
  const Value squares = SumOverAxes(all, filter, x, [&](size_t i) {
    return all.Apply(ElementwiseOp::kSquare, GaussianDerivative(all, filter, x, i, 1));
  });
  return all.Apply(ElementwiseOp::kSqrt, squares);
}

// Integers are cut to the result's dtype at the end only: what is between axes may be negative.
DType ExactDType(const Expansion& all) {
  return IsFloating(all.work()) ? all.work() : DType::kFloat64;
}

Value Derivative(Expansion& all, const NdFilter& filter, Value x, std::vector<double> across) {
  x = all.Sum(x, filter.axis, {-1, 0, 1}, ExactDType(all));
  for (size_t i = 0; i < filter.axes.size(); ++i) {
    if (i != filter.axis) x = all.Sum(x, i, across, ExactDType(all));
  }
  return x;
}

Value SecondDerivatives(Expansion& all, const NdFilter& filter, Value x) {
  return SumOverAxes(all, filter, x, [&](size_t i) {
    return all.Sum(x, i, {1, -2, 1}, ExactDType(all));
  });
}

// a - b; of unsigned integers 0 where b is larger.
Value Subtract(Expansion& all, const NdFilter& filter, Value a, Value b) {
  a = all.Cast(a, filter.output);
  b = all.Cast(b, filter.output);
  if (KindOf(filter.output) == DTypeKind::kUnsigned) {
    a = all.Combine(ElementwiseOp::kMaximum, a, b);
  }
  return all.Combine(ElementwiseOp::kSubtract, a, b);
}

Value Repeat(Expansion& all, const NdFilter& filter, Value x, bool dilate) {
  x = all.Cast(x, DType::kBool);
  for (int64_t i = 0; i < filter.iterations; ++i) x = dilate ? all.Dilate(x) : all.Erode(x);
  return x;
}

Value ApplySums(Expansion& all, const NdFilter& filter, Value x, Value kernel) {
  switch (filter.kind) {
    case FilterKind::kGaussian:
      return Smooth(all, filter, x);
    case FilterKind::kGaussianLaplace:
      return Laplace(all, filter, x);
    case FilterKind::kGaussianGradientMagnitude:
      return GradientMagnitude(all, filter, x);
    case FilterKind::kBox:
      for (size_t i = 0; i < filter.axes.size(); ++i) {
        if (filter.size[i] > 1) x = all.Mean(x, i);
      }
      return x;
    case FilterKind::kSobel:
      return Derivative(all, filter, x, {1, 2, 1});
    case FilterKind::kPrewitt:
      return Derivative(all, filter, x, {1, 1, 1});
    case FilterKind::kScharr:
      return Derivative(all, filter, x, {3, 10, 3});
    case FilterKind::kLaplacian:
      return SecondDerivatives(all, filter, x);
    case FilterKind::kCorrelate1d:
    case FilterKind::kConvolve1d:
      return all.Sum(x, 0, filter.weights[0], all.work());
    default:
      kernel = all.Cast(kernel, DType::kFloat64);
      return all.Dense(x, kernel, filter.kind == FilterKind::kConvolve);
  }
}

Value ApplyOrders(Expansion& all, const NdFilter& filter, Value x) {
  switch (filter.kind) {
    case FilterKind::kMinimum:
    case FilterKind::kGreyErosion:
      return all.Erode(x);
    case FilterKind::kMaximum:
      return all.Extreme(x, LineFilterAttributes::Op::kMaximum, false);
    case FilterKind::kGreyDilation:
      return all.Dilate(x);
    case FilterKind::kGreyOpening:
      return all.Dilate(all.Erode(x));
    case FilterKind::kGreyClosing:
      return all.Erode(all.Dilate(x));
    case FilterKind::kMorphologicalGradient: {
      const Value dilated = all.Dilate(x);
      return Subtract(all, filter, dilated, all.Erode(x));
    }
    case FilterKind::kWhiteTophat:
      return Subtract(all, filter, x, all.Dilate(all.Erode(x)));
    case FilterKind::kBlackTophat:
      return Subtract(all, filter, all.Erode(all.Dilate(x)), x);
    case FilterKind::kBinaryErosion:
      return Repeat(all, filter, x, false);
    case FilterKind::kBinaryDilation:
      return Repeat(all, filter, x, true);
    case FilterKind::kBinaryOpening:
      return Repeat(all, filter, Repeat(all, filter, x, false), true);
    case FilterKind::kBinaryClosing:
      return Repeat(all, filter, Repeat(all, filter, x, true), false);
    default:
      return all.Ranked(x, filter.rank, false);
  }
}

}  // namespace

std::vector<Operation> ExpandNdFilter(const NdFilter& filter, absl::Span<const uint32_t> inputs,
                                      DType kernel, uint32_t next) {
  Expansion all(filter, next);
  const Value x = all.Cast({inputs[0], filter.image}, WorkDType(filter.image));
  all.Finish(OrdersElements(filter.kind) ? ApplyOrders(all, filter, x)
                                         : ApplySums(all, filter, x, {inputs.back(), kernel}));
  return all.Take();
}

std::optional<NdFilterAttributes> AsNdFilter(const Operation& operation, DType image) {
  if (const auto* nd = std::get_if<NdFilterAttributes>(&operation.attributes)) return *nd;
  const auto* of_images = std::get_if<FilterAttributes>(&operation.attributes);
  if (of_images == nullptr) return std::nullopt;
  const auto is_image = [](DType d) { return d == DType::kUint8 || d == DType::kFloat32; };
  const DType output = of_images->output_dtype;
  if (is_image(image) && (output == DType::kUnspecified || is_image(output))) return std::nullopt;
  const auto pair = [](auto of) {
    return PerAxis<typename decltype(of)::value_type>{of[0], of[1]};
  };
  return NdFilterAttributes{.kind = of_images->kind,
                            .modes = {of_images->mode},
                            .cval = of_images->cval,
                            .output_dtype = output,
                            .sigma = pair(of_images->sigma),
                            .truncate = of_images->truncate,
                            .order = pair(of_images->order),
                            .size = pair(of_images->size),
                            .origin = pair(of_images->origin),
                            .rank = of_images->rank,
                            .percentile = of_images->percentile,
                            .axis = of_images->axis};
}

}  // namespace gpucall
