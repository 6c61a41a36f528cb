#include "server/program/rearrange.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"
#include "server/program/fill_element.h"
#include "server/program/rearrange_axes.h"
#include "server/program/rearrange_parts.h"

namespace gpucall {
namespace {

using Attributes = RearrangeAttributes;
using Dimensions = std::vector<std::vector<Stretch>>;

// One rearrangement in the making. x is its first input.
class Lowering {
 public:
  Lowering(const Attributes& attributes, absl::Span<const TensorType* const> inputs)
      : attributes_(attributes),
        name_(RowOf(attributes.kind).name),
        inputs_(inputs),
        x_(inputs[0]->shape) {
    result_.output.dtype = inputs[0]->dtype;
  }

  absl::StatusOr<RearrangeLowering> Lower() {
    GPUCALL_RETURN_IF_ERROR(LowerKind());
    return std::move(result_);
  }

 private:
  absl::Status LowerKind() {
    switch (attributes_.kind) {
      case RearrangeKind::kReshape:
        return Reshape();
      case RearrangeKind::kTranspose:
        return Transpose();
      case RearrangeKind::kConcatenate:
        return Concatenate();
      case RearrangeKind::kStack:
        return Stack();
      case RearrangeKind::kSlice:
        return Slice();
      case RearrangeKind::kPad:
        return Pad();
      case RearrangeKind::kFlip:
        return Flip();
      case RearrangeKind::kTile:
        return Tile();
      case RearrangeKind::kBroadcastTo:
        return BroadcastTo();
      case RearrangeKind::kRoll:
        return Roll();
      case RearrangeKind::kRepeat:
        return Repeat();
      default:  // made of others
        break;
    }
    return absl::OkStatus();
  }

  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", parts...));
  }

  // Takes the output's shape, which must have a size in bytes.
  absl::Status SetShape(Shape shape) {
    result_.output.shape = std::move(shape);
    return CheckedSizeBytes(name_, result_.output.dtype, result_.output.shape).status();
  }

  // Adds one input's parts: `dimensions` of the output where all its dimensions are an input's.
  void Add(uint32_t input, const Dimensions& dimensions, absl::Span<const int64_t> input_strides,
           absl::Span<const int64_t> output_strides, int64_t output_offset = 0) {
    auto parts = PartsOf(input, dimensions, input_strides, output_strides, output_offset);
    std::move(parts.begin(), parts.end(), std::back_inserter(result_.step.parts));
  }
  void AddAll(const Dimensions& dimensions, absl::Span<const int64_t> input_strides) {
    Add(0, dimensions, input_strides, DenseStrides(result_.output.shape));
  }
  static Dimensions Whole(absl::Span<const int64_t> shape) {
    Dimensions dimensions;
    for (const int64_t size : shape) dimensions.push_back({{.size = size}});
    return dimensions;
  }

  absl::Status Reshape() {
    Shape shape(attributes_.sizes.begin(), attributes_.sizes.end());
    const int64_t count = ElementCount(x_);
    int64_t known = 1;
    int64_t* open = nullptr;
    bool valid = true;
    for (int64_t& size : shape) {
      if (size == -1 && open == nullptr) {
        open = &size;
      } else {
        valid &= size >= 0 && !__builtin_mul_overflow(known, size, &known);
      }
    }
    if (open != nullptr) {
      valid = valid && known > 0 && count % known == 0;
      if (valid) *open = count / known;
    }
    if (!valid || (open == nullptr && known != count)) {
      return Invalid("shape is ", ShapeString(attributes_.sizes), ", for x of shape ",
                     ShapeString(x_), " allowed are sizes of ", count,
                     " elements together, one of them -1");
    }
    return SetShape(std::move(shape));
  }

  absl::Status Transpose() {
    absl::InlinedVector<size_t, kMaxRank> order;
    if (!attributes_.axes.has_value()) {
      for (size_t d = x_.size(); d-- > 0;) order.push_back(d);
    } else {
      GPUCALL_RETURN_IF_ERROR(CheckedAxes(name_, *attributes_.axes, x_.size()).status());
      for (const int64_t axis : *attributes_.axes) {
        order.push_back(*CheckedAxis(name_, axis, x_.size()));
      }
      if (order.size() != x_.size()) {
        return Invalid("has ", order.size(), " axes, for x of shape ", ShapeString(x_),
                       " allowed are ", x_.size());
      }
    }
    const Shape x_strides = DenseStrides(x_);
    Shape shape, strides;
    for (const size_t d : order) {
      shape.push_back(x_[d]);
      strides.push_back(x_strides[d]);
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(shape));
    AddAll(Whole(shape), strides);
    return absl::OkStatus();
  }

  // That all inputs are as the first, but for dimension `except`.
  absl::Status CheckAlike(size_t except) const {
    for (size_t i = 1; i < inputs_.size(); ++i) {
      Shape shape = inputs_[i]->shape;
      if (except < shape.size() && shape.size() == x_.size()) shape[except] = x_[except];
      if (shape != x_) {
        return Invalid("input ", i, " has shape ", ShapeString(inputs_[i]->shape),
                       ", which does not match ", ShapeString(x_), " of input 0");
      }
      if (inputs_[i]->dtype != inputs_[0]->dtype) {
        return absl::UnimplementedError(absl::StrCat(
            name_, ": dtypes ", DTypeName(inputs_[0]->dtype), " and ", DTypeName(inputs_[i]->dtype),
            " of inputs 0 and ", i, " are not offered together, all must be the same"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Concatenate() {
    GPUCALL_ASSIGN_OR_RETURN(const size_t axis,
                             CheckedAxis(name_, (*attributes_.axes)[0], x_.size()));
    GPUCALL_RETURN_IF_ERROR(CheckAlike(axis));
    Shape shape = x_;
    for (const TensorType* input : inputs_.subspan(1)) {
      if (__builtin_add_overflow(shape[axis], input->shape[axis], &shape[axis])) {
        return Invalid("result has over 2^63 elements along axis ", axis);
      }
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(shape));
    const Shape strides = DenseStrides(shape);
    int64_t at = 0;
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      Add(i, Whole(inputs_[i]->shape), DenseStrides(inputs_[i]->shape), strides,
          at * strides[axis]);
      at += inputs_[i]->shape[axis];
    }
    return absl::OkStatus();
  }

  absl::Status Stack() {
    GPUCALL_ASSIGN_OR_RETURN(const size_t axis,
                             CheckedAxis(name_, (*attributes_.axes)[0], x_.size() + 1));
    GPUCALL_RETURN_IF_ERROR(CheckAlike(x_.size()));
    Shape shape = x_;
    shape.insert(shape.begin() + static_cast<int64_t>(axis), static_cast<int64_t>(inputs_.size()));
    GPUCALL_RETURN_IF_ERROR(SetShape(shape));
    Shape strides = DenseStrides(shape);
    const int64_t stride = strides[axis];
    strides.erase(strides.begin() + static_cast<int64_t>(axis));
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      Add(i, Whole(x_), DenseStrides(x_), strides, i * stride);
    }
    return absl::OkStatus();
  }

  absl::Status Slice() {
    if (attributes_.ranges.size() > x_.size()) {
      return Invalid("has ", attributes_.ranges.size(), " ranges, for x of shape ", ShapeString(x_),
                     " allowed are ", x_.size());
    }
    Dimensions dimensions;
    Shape shape, full;
    for (size_t d = 0; d < x_.size(); ++d) {
      const Attributes::Range range =
          d < attributes_.ranges.size() ? attributes_.ranges[d] : Attributes::Range{};
      GPUCALL_ASSIGN_OR_RETURN(const Stretch stretch, StretchOf(name_, range, x_[d], d));
      dimensions.push_back({stretch});
      full.push_back(stretch.size);
      if (!range.drop) shape.push_back(stretch.size);
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(shape));
    Add(0, dimensions, DenseStrides(x_), DenseStrides(full));
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> PadAt(absl::string_view side, const Attributes::Sizes& sizes,
                                size_t d) const {
    if (sizes.size() != 1 && sizes.size() != x_.size()) {
      return Invalid(side, " has ", sizes.size(), " sizes, for x of shape ", ShapeString(x_),
                     " allowed are 1 or ", x_.size());
    }
    constexpr int64_t kMaxPad = int64_t{1} << 40;
    const int64_t size = sizes[sizes.size() == 1 ? 0 : d];
    if (size < 0 || size > kMaxPad) {
      return Invalid(side, " of dimension ", d, " is ", size, ", allowed is 0 to ", kMaxPad);
    }
    return size;
  }

  absl::Status Pad() {
    GPUCALL_RETURN_IF_ERROR(SetFill());
    Dimensions dimensions;
    Shape shape;
    for (size_t d = 0; d < x_.size(); ++d) {
      GPUCALL_ASSIGN_OR_RETURN(const int64_t before, PadAt("before", attributes_.before, d));
      GPUCALL_ASSIGN_OR_RETURN(const int64_t after, PadAt("after", attributes_.after, d));
      dimensions.push_back({{.size = before, .filled = true},
                            {.size = x_[d], .output = before},
                            {.size = after, .output = before + x_[d], .filled = true}});
      if (__builtin_add_overflow(x_[d], before + after, &shape.emplace_back())) {
        return Invalid("dimension ", d, " would have over 2^63 elements");
      }
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(shape));
    AddAll(dimensions, DenseStrides(x_));
    return absl::OkStatus();
  }

  absl::Status SetFill() {
    const DType dtype = result_.output.dtype;
    const auto element = FillElement(dtype, attributes_.value);
    if (element.has_value()) {
      result_.step.fill = *element;
      return absl::OkStatus();
    }
    return Invalid("value is ", attributes_.value, ", allowed is what ", DTypeName(dtype),
                   " can represent");
  }

  absl::Status Flip() {
    absl::InlinedVector<bool, kMaxRank> flipped(x_.size(), true);
    if (attributes_.axes.has_value()) {
      GPUCALL_ASSIGN_OR_RETURN(flipped, CheckedAxes(name_, *attributes_.axes, x_.size()));
    }
    Dimensions dimensions = Whole(x_);
    for (size_t d = 0; d < x_.size(); ++d) {
      if (flipped[d] && x_[d] > 0)
        dimensions[d] = {{.size = x_[d], .input = x_[d] - 1, .step = -1}};
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(x_));
    AddAll(dimensions, DenseStrides(x_));
    return absl::OkStatus();
  }

  absl::Status Tile() {
    const size_t rank = std::max(x_.size(), attributes_.sizes.size());
    Shape from(rank - x_.size(), 1), repetitions(rank - attributes_.sizes.size(), 1), shape;
    from.insert(from.end(), x_.begin(), x_.end());
    repetitions.insert(repetitions.end(), attributes_.sizes.begin(), attributes_.sizes.end());
    for (size_t d = 0; d < rank; ++d) {
      if (repetitions[d] < 0 ||
          __builtin_mul_overflow(from[d], repetitions[d], &shape.emplace_back())) {
        return Invalid("repetitions of dimension ", d, " are ", repetitions[d],
                       ", allowed is 0 to what 2^63 elements hold");
      }
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(shape));
    if (ElementCount(shape) == 0) return absl::OkStatus();
    const Shape from_strides = DenseStrides(from), strides = DenseStrides(shape);
    RearrangeStep::Part part = {0, 0, 0, {}, {}, {}};
    for (size_t d = 0; d < rank; ++d) {
      AppendDimension(repetitions[d], 0, from[d] * strides[d], part);
      AppendDimension(from[d], from_strides[d], strides[d], part);
    }
    result_.step.parts.push_back(std::move(part));
    return absl::OkStatus();
  }

  absl::Status BroadcastTo() {
    Shape shape(attributes_.sizes.begin(), attributes_.sizes.end());
    const size_t rank = shape.size();
    bool valid = rank >= x_.size();
    Shape strides(rank, 0);
    const Shape x_strides = DenseStrides(x_);
    for (size_t d = 0; valid && d < x_.size(); ++d) {
      const size_t at = rank - x_.size() + d;
      valid = x_[d] == shape[at] || x_[d] == 1;
      if (x_[d] != 1) strides[at] = x_strides[d];
    }
    if (!valid) {
      return Invalid("x of shape ", ShapeString(x_), " does not broadcast to shape ",
                     ShapeString(shape));
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(shape));
    AddAll(Whole(shape), strides);
    return absl::OkStatus();
  }

  // Without axes, of the flattened array.
  absl::Status Roll() {
    const Shape flat = {ElementCount(x_)};
    const Shape& shape = attributes_.axes.has_value() ? x_ : flat;
    const Axes axes = attributes_.axes.value_or(Axes{0});
    GPUCALL_RETURN_IF_ERROR(CheckedAxes(name_, axes, shape.size()).status());
    if (attributes_.sizes.size() != axes.size()) {
      return Invalid("has ", attributes_.sizes.size(), " shifts, allowed is one for each of ",
                     axes.size(), " axes");
    }
    Dimensions dimensions = Whole(shape);
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t d = *CheckedAxis(name_, axes[i], shape.size());
      const int64_t size = shape[d];
      if (size == 0) continue;
      const int64_t shift = (attributes_.sizes[i] % size + size) % size;
      dimensions[d] = {{.size = size - shift, .output = shift},
                       {.size = shift, .input = size - shift}};
    }
    GPUCALL_RETURN_IF_ERROR(SetShape(x_));
    Add(0, dimensions, DenseStrides(shape), DenseStrides(shape));
    return absl::OkStatus();
  }

  absl::Status Repeat() {
    GPUCALL_ASSIGN_OR_RETURN(RepeatParts parts, RepeatsOf(attributes_, x_));
    result_.step.parts = std::move(parts.parts);
    return SetShape(std::move(parts.shape));
  }

  const Attributes& attributes_;
  const absl::string_view name_;
  const absl::Span<const TensorType* const> inputs_;
  const Shape& x_;
  RearrangeLowering result_;
};

// Equal for equal attributes.
std::string TextOf(const Attributes& attributes) {
  const auto list = [](const auto& numbers) { return absl::StrJoin(numbers, ","); };
  std::string text = absl::StrCat(static_cast<int>(attributes.kind), ";",
                                  attributes.axes.has_value() ? list(*attributes.axes) : "all", ";",
                                  list(attributes.sizes), ";", list(attributes.before), ";",
                                  list(attributes.after), ";");
  const auto add = [&](const std::optional<int64_t>& number) {
    absl::StrAppend(&text, number.has_value() ? absl::StrCat(*number) : "", ":");
  };
  for (const Attributes::Range& range : attributes.ranges) {
    add(range.start);
    add(range.stop);
    add(range.step);
    absl::StrAppend(&text, range.drop ? "d," : ",");
  }
  text.append(reinterpret_cast<const char*>(&attributes.value), sizeof(attributes.value));
  return text;
}

}  // namespace

absl::StatusOr<RearrangeLowering> LowerRearrange(const RearrangeAttributes& attributes,
                                                 absl::Span<const TensorType* const> inputs) {
  const absl::string_view name = RowOf(attributes.kind).name;
  const bool joins =
      attributes.kind == RearrangeKind::kConcatenate || attributes.kind == RearrangeKind::kStack;
  if (inputs.empty() || (inputs.size() > 1 && !joins)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": got ", inputs.size(), " inputs, needs ",
                                                   joins ? "at least 1" : "1 (x)"));
  }
  GPUCALL_ASSIGN_OR_RETURN(const RearrangeAttributes simple,
                           Simplified(attributes, inputs[0]->shape));
  GPUCALL_ASSIGN_OR_RETURN(RearrangeLowering result, Lowering(simple, inputs).Lower());
  result.step.attributes = TextOf(attributes);
  return result;
}

}  // namespace gpucall
