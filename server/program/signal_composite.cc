#include "server/program/signal_composite.h"

#include <algorithm>
#include <utility>

#include "server/program/signal.h"

namespace gpucall {
namespace {

constexpr size_t kSectionSize = 6, kSectionsTogether = 4;

// Of what kernels take; halves are computed in float32.
DType ComputedIn(DType x) {
  const DType result = SignalResult(x);
  return ElementSize(result) == 2 ? DType::kFloat32 : result;
}

class Expansion {
 public:
  Expansion(const Operation& operation, absl::Span<const TensorType> values, uint32_t next)
      : signal_(std::get<SignalAttributes>(operation.attributes)),
        inputs_(operation.inputs),
        x_(values[operation.inputs[0]]),
        next_(next) {
    for (const uint32_t value : operation.inputs) types_.push_back(&values[value]);
    lowering_ = *LowerSignal(signal_, types_);
  }

  std::vector<Operation> Expand() {
    if (IsLineFilter()) {
      LineFilter();
    } else if (signal_.sections.size() <= kSectionSize * kSectionsTogether) {
      Recurrence();
    } else {
      Chain();
    }
    return std::move(operations_);
  }

 private:
  uint32_t Add(decltype(Operation::attributes) attributes,
               absl::InlinedVector<uint32_t, 3> inputs) {
    operations_.push_back({std::move(attributes), std::move(inputs)});
    return next_++;
  }
  uint32_t Cast(uint32_t value, DType from, DType to) {
    return from == to ? value : Add(CastAttributes{to}, {value});
  }

  bool IsLineFilter() const {
    return signal_.kind == SignalKind::kLfilter && signal_.a.size() == 1 && inputs_.size() == 1 &&
           !signal_.final_state && KindOf(x_.dtype) != DTypeKind::kComplex &&
           x_.dtype != DType::kBool;
  }

  // y[n] is the sum of b[j] x[n-j], with zeros before the signal.
  void LineFilter() {
    LineFilterAttributes line = {.size = lowering_.step.order + 1, .before = lowering_.step.order};
    const auto rank = static_cast<int64_t>(x_.shape.size());
    line.axis = signal_.axis < 0 ? signal_.axis + rank : signal_.axis;
    line.weights.assign(lowering_.step.b.rbegin(), lowering_.step.b.rend());
    line.mode = BorderMode::kConstant;
    line.output_dtype = ComputedIn(x_.dtype);
    const DType result = lowering_.output.dtype;
    // Integers as they are; halves, whose result has their dtype, through float32.
    const uint32_t x =
        x_.dtype == result ? Cast(inputs_[0], result, line.output_dtype) : inputs_[0];
    Cast(Add(line, {x}), line.output_dtype, result);
  }

  // zi as the step takes it.
  uint32_t State() {
    const TensorType& zi = *types_[1];
    const bool complex = KindOf(x_.dtype) == DTypeKind::kComplex;
    const uint32_t state =
        Cast(inputs_[1], zi.dtype, complex ? DType::kComplex128 : DType::kFloat64);
    if (zi.shape == lowering_.state) return state;
    return Add(RearrangeAttributes{.kind = RearrangeKind::kBroadcastTo,
                                   .sizes = {lowering_.state.begin(), lowering_.state.end()}},
               {state});
  }

  void Recurrence() {
    const DType computed_in = ComputedIn(x_.dtype);
    absl::InlinedVector<uint32_t, 3> inputs = {Cast(inputs_[0], x_.dtype, computed_in)};
    if (inputs_.size() == 2) inputs.push_back(State());
    Cast(Add(signal_, inputs), computed_in, lowering_.output.dtype);
  }

  // Four sections at a time, with 64 bits between them.
  void Chain() {
    const DType wide =
        KindOf(x_.dtype) == DTypeKind::kComplex ? DType::kComplex128 : DType::kFloat64;
    uint32_t x = Cast(inputs_[0], x_.dtype, wide);
    const uint32_t zi = inputs_.size() == 2 ? State() : 0;
    absl::InlinedVector<uint32_t, 3> states;
    const size_t count = signal_.sections.size() / kSectionSize;
    for (size_t first = 0; first < count; first += kSectionsTogether) {
      const size_t last = std::min(first + kSectionsTogether, count);
      SignalAttributes part = signal_;
      part.sections.assign(signal_.sections.begin() + static_cast<int64_t>(first * kSectionSize),
                           signal_.sections.begin() + static_cast<int64_t>(last * kSectionSize));
      absl::InlinedVector<uint32_t, 3> inputs = {x};
      if (inputs_.size() == 2) {
        inputs.push_back(Add(RearrangeAttributes{.kind = RearrangeKind::kSlice,
                                                 .ranges = {{.start = first, .stop = last}}},
                             {zi}));
      }
      if (signal_.final_state) states.push_back(Add(part, inputs));
      part.final_state = false;
      x = Add(part, inputs);
    }
    if (signal_.final_state) {
      x = Add(RearrangeAttributes{.kind = RearrangeKind::kConcatenate, .axes = Axes{0}}, states);
    }
    Cast(x, wide, lowering_.output.dtype);
  }

  const SignalAttributes& signal_;
  const absl::InlinedVector<uint32_t, 3>& inputs_;
  const TensorType& x_;
  std::vector<const TensorType*> types_;
  SignalLowering lowering_;
  uint32_t next_;
  std::vector<Operation> operations_;
};

}  // namespace

std::vector<Operation> ExpandSignal(const Operation& operation, absl::Span<const TensorType> values,
                                    uint32_t next) {
  return Expansion(operation, values, next).Expand();
}

}  // namespace gpucall
