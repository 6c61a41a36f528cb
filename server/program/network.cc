#include "server/program/network.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

using Operands = absl::Span<const TensorType* const>;

constexpr int64_t kMaxStep = int64_t{1} << 30;  // of sizes, strides and the like
constexpr absl::string_view kAxisNames[] = {"rows", "columns"};

// One convolution or pool in the making.
class Lowering {
 public:
  Lowering(const NetworkAttributes& attributes, Operands operands)
      : attributes_(attributes),
        operands_(operands),
        name_(RowOf(attributes.kind).name),
        is_conv_(attributes.kind == NetworkKind::kConv2d) {}

  absl::StatusOr<NetworkLowering> Lower() {
    GPUCALL_RETURN_IF_ERROR(CheckOperands());
    SetImage();
    if (is_conv_) GPUCALL_RETURN_IF_ERROR(SetChannels());
    for (size_t axis = 0; axis < 2; ++axis) GPUCALL_RETURN_IF_ERROR(SetAxis(axis));
    NetworkStep& s = result_.step;
    s.out_rows = out_[0];
    s.out_columns = out_[1];
    TensorType& output = result_.output;
    output.dtype = operands_[0]->dtype;
    output.shape = attributes_.layout == ImageLayout::kNchw
                       ? Shape{s.images, s.out_channels, s.out_rows, s.out_columns}
                       : Shape{s.images, s.out_rows, s.out_columns, s.out_channels};
    GPUCALL_RETURN_IF_ERROR(CheckedSizeBytes(name_, output.dtype, output.shape).status());
    return std::move(result_);
  }

 private:
  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", parts...));
  }

  absl::Status CheckOperands() const {
    const size_t count = operands_.size();
    if (is_conv_ ? count != 2 && count != 3 : count != 1) {
      return Invalid("got ", count, " inputs, needs ",
                     is_conv_ ? "2 (x, weights) or 3 (x, weights, bias)" : "1 (x)");
    }
    const TensorType& x = *operands_[0];
    GPUCALL_RETURN_IF_ERROR(CheckOffered(RowOf(attributes_.kind), x.dtype));
    constexpr absl::string_view kNames[] = {"x", "weights", "bias"};
    for (size_t i = 0; i < count; ++i) {
      const TensorType& type = *operands_[i];
      const size_t rank = i == 2 ? 1 : 4;
      if (type.shape.size() != rank) {
        return Invalid(kNames[i], " has shape ", ShapeString(type.shape), ", allowed are ", rank,
                       rank == 1 ? " dimension" : " dimensions");
      }
      if (type.dtype != x.dtype) {
        return Invalid(kNames[i], " has dtype ", DTypeName(type.dtype), ", allowed is ",
                       DTypeName(x.dtype), ", that of x");
      }
    }
    return absl::OkStatus();
  }

  void SetImage() {
    NetworkStep& s = result_.step;
    const Shape& x = operands_[0]->shape;
    const bool last = attributes_.layout == ImageLayout::kNhwc;
    s.kind = attributes_.kind;
    s.layout = attributes_.layout;
    s.images = x[0];
    s.channels = s.out_channels = x[last ? 3 : 1];
    s.rows = x[last ? 1 : 2];
    s.columns = x[last ? 2 : 3];
    s.groups = 1;
    s.size = attributes_.size;
    s.stride = attributes_.stride;
    s.dilation = attributes_.dilation;
    s.before = attributes_.before;
    s.after = attributes_.after;
    s.count_padding = attributes_.count_padding;
    for (size_t axis = 0; axis < 2 && !is_conv_; ++axis) {
      if (s.stride[axis] == 0) s.stride[axis] = s.size[axis];
    }
  }

  absl::Status SetChannels() {
    NetworkStep& s = result_.step;
    const Shape& weights = operands_[1]->shape;
    s.out_channels = weights[0];
    s.size = {weights[2], weights[3]};
    s.groups = attributes_.groups;
    if (s.groups < 1 || s.channels % s.groups != 0 || s.out_channels % s.groups != 0) {
      return Invalid("groups is ", s.groups, ", allowed are divisors of ", s.channels,
                     ", the channels of x, and of ", s.out_channels, ", those of weights");
    }
    if (weights[1] != s.channels / s.groups) {
      return Invalid("weights of shape ", ShapeString(weights), " have ", weights[1],
                     " in channels, x of shape ", ShapeString(operands_[0]->shape), " has ",
                     s.channels, " in ", s.groups, " groups");
    }
    if (operands_.size() == 3 && operands_[2]->shape[0] != s.out_channels) {
      return Invalid("bias has shape ", ShapeString(operands_[2]->shape), ", allowed is (",
                     s.out_channels, "), an element for each out channel");
    }
    return absl::OkStatus();
  }

  absl::Status CheckRange(absl::string_view what, size_t axis, int64_t value, int64_t least) const {
    if (value >= least && value <= kMaxStep) return absl::OkStatus();
    return Invalid(what, " of the ", kAxisNames[axis], " is ", value, ", allowed are ", least,
                   " to ", kMaxStep);
  }

  absl::Status SetAxis(size_t axis) {
    const NetworkStep& s = result_.step;
    GPUCALL_RETURN_IF_ERROR(CheckRange("size", axis, s.size[axis], 1));
    GPUCALL_RETURN_IF_ERROR(CheckRange("stride", axis, s.stride[axis], 1));
    GPUCALL_RETURN_IF_ERROR(CheckRange("dilation", axis, s.dilation[axis], 1));
    for (const int64_t padding : {s.before[axis], s.after[axis]}) {
      GPUCALL_RETURN_IF_ERROR(CheckRange("padding", axis, padding, 0));
    }
    const int64_t size = axis == 0 ? s.rows : s.columns;
    const int64_t window = s.dilation[axis] * (s.size[axis] - 1) + 1;  // below 2^61
    if (size > (int64_t{1} << 60) || window > size + s.before[axis] + s.after[axis]) {
      return Invalid("the window has ", window, " ", kAxisNames[axis], ", x with padding has ",
                     size, " + ", s.before[axis], " + ", s.after[axis]);
    }
    const int64_t room = size + s.before[axis] + s.after[axis] - window, stride = s.stride[axis];
    out_[axis] = room / stride + 1;
    const bool has_rest = attributes_.ceil_mode && !is_conv_ && room % stride != 0;
    if (has_rest && out_[axis] * stride < size + s.before[axis]) ++out_[axis];
    return absl::OkStatus();
  }

  const NetworkAttributes& attributes_;
  const Operands operands_;
  const absl::string_view name_;
  const bool is_conv_;
  int64_t out_[2] = {0, 0};
  NetworkLowering result_;
};

}  // namespace

absl::StatusOr<NetworkLowering> LowerNetwork(const NetworkAttributes& attributes,
                                             Operands operands) {
  return Lowering(attributes, operands).Lower();
}

}  // namespace gpucall
