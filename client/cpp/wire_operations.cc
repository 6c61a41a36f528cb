// Operations and Programs to messages.
#include <array>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/wire.h"

namespace gpucall {
inline namespace client {
namespace {

// By name, since the order of elementwise_ops.def is nobody's contract.
v1::ElementwiseOp Number(absl::string_view name) {
  v1::ElementwiseOp number = v1::ELEMENTWISE_OP_UNSPECIFIED;
  v1::ElementwiseOp_Parse(absl::StrCat("ELEMENTWISE_OP_", absl::AsciiStrToUpper(name)), &number);
  return number;
}

v1::BorderMode ToWire(BorderMode mode) {
  switch (mode) {
    case BorderMode::kNearest:
      return v1::BORDER_MODE_NEAREST;
    case BorderMode::kReflect:
      return v1::BORDER_MODE_REFLECT;
    case BorderMode::kMirror:
      return v1::BORDER_MODE_MIRROR;
    case BorderMode::kWrap:
      return v1::BORDER_MODE_WRAP;
    case BorderMode::kConstant:
      return v1::BORDER_MODE_CONSTANT;
  }
  return v1::BORDER_MODE_UNSPECIFIED;
}

template <typename T, typename Field>
void Set(const PerAxis<T>& value, Field* field) {
  field->Add(value.values.begin(), value.values.end());
}

void Set(const std::optional<Footprint>& footprint, v1::Filter& filter) {
  if (!footprint.has_value()) return;
  v1::Footprint& message = *filter.mutable_footprint();
  message.mutable_shape()->Add(footprint->shape.begin(), footprint->shape.end());
  message.mutable_elements()->assign(footprint->elements.begin(), footprint->elements.end());
}

void SetKind(const GaussianOptions& options, v1::Filter& filter) {
  v1::Gaussian& gaussian = *filter.mutable_gaussian();
  Set(options.sigma, gaussian.mutable_sigma());
  gaussian.set_truncate(options.truncate);
  if (options.order.values != std::vector<int32_t>{0}) Set(options.order, gaussian.mutable_order());
}
void SetKind(const BoxOptions& options, v1::Filter& filter) {
  Set(options.size, filter.mutable_box()->mutable_size());
  Set(options.origin, filter.mutable_box()->mutable_origin());
}
void SetKind(const SobelOptions& options, v1::Filter& filter) {
  filter.mutable_sobel()->set_axis(options.axis);
}
void SetKind(const LaplacianOptions&, v1::Filter& filter) { filter.mutable_laplacian(); }
void SetKind(const MedianOptions& options, v1::Filter& filter) {
  Set(options.footprint, filter);
  Set(options.size, filter.mutable_median()->mutable_size());
  Set(options.origin, filter.mutable_median()->mutable_origin());
}
void SetKind(const CorrelateOptions& options, v1::Filter& filter) {
  Set(options.origin, filter.mutable_correlate()->mutable_origin());
}
void SetKind(const ConvolveOptions& options, v1::Filter& filter) {
  Set(options.origin, filter.mutable_convolve()->mutable_origin());
}
template <typename Options>
v1::Line LineOf(const Options& options) {
  v1::Line line;
  line.mutable_weights()->Add(options.weights.begin(), options.weights.end());
  line.set_axis(options.axis);
  line.set_origin(options.origin);
  return line;
}
void SetKind(const Correlate1dOptions& options, v1::Filter& filter) {
  *filter.mutable_correlate1d() = LineOf(options);
}
void SetKind(const Convolve1dOptions& options, v1::Filter& filter) {
  *filter.mutable_convolve1d() = LineOf(options);
}
v1::BinaryMorphology* MessageOf(BinaryOp op, v1::Filter& filter) {
  switch (op) {
    case BinaryOp::kErosion:
      return filter.mutable_binary_erosion();
    case BinaryOp::kDilation:
      return filter.mutable_binary_dilation();
    case BinaryOp::kOpening:
      return filter.mutable_binary_opening();
    case BinaryOp::kClosing:
      break;
  }
  return filter.mutable_binary_closing();
}
void SetKind(const BinaryMorphologyOptions& options, v1::Filter& filter) {
  v1::BinaryMorphology& binary = *MessageOf(options.op, filter);
  binary.set_iterations(options.iterations);
  binary.set_border_value(options.border_value);
  Set(options.origin, binary.mutable_origin());
  Set(options.structure, filter);
}

template <typename Options>
void SetSteps(const Options& options, v1::Steps2d& steps) {
  Set(options.stride, steps.mutable_stride());
  Set(options.dilation, steps.mutable_dilation());
  const Padding& padding = options.padding;
  for (const int64_t side : {padding.top, padding.left, padding.bottom, padding.right}) {
    steps.add_padding(side);
  }
}
void SetKind(const Conv2dOptions& options, v1::Network& network) {
  SetSteps(options, *network.mutable_conv2d()->mutable_steps());
  network.mutable_conv2d()->set_groups(options.groups);
}
void SetKind(const PoolOptions& options, v1::Network& network) {
  v1::Pool2d& pool = options.kind == PoolKind::kMax ? *network.mutable_max_pool2d()
                                                    : *network.mutable_avg_pool2d();
  SetSteps(options, *pool.mutable_steps());
  Set(options.size, pool.mutable_size());
  pool.set_ceil_mode(options.ceil_mode);
  pool.set_count_padding(options.count_padding);
}

struct SetAttributes {
  v1::Operation& operation;
  void operator()(ElementwiseOp op) const { operation.set_elementwise(client::ToWire(op)); }
  void operator()(const CastOptions& options) const {
    operation.set_elementwise(v1::ELEMENTWISE_OP_CAST);
    operation.set_output_dtype(static_cast<v1::DType>(options.dtype));
  }
  void operator()(const MatMulOptions& options) const {
    *operation.mutable_matmul() = client::ToWire(options);
  }
  void operator()(const FilterOptions& options) const {
    *operation.mutable_filter() = client::ToWire(options);
  }
  void operator()(const SortOptions& options) const {
    *operation.mutable_sort() = client::ToWire(options);
  }
  void operator()(const ScanOptions& options) const {
    *operation.mutable_scan() = client::ToWire(options);
  }
  void operator()(const TakeOptions& options) const {
    *operation.mutable_take() = client::ToWire(options);
  }
  void operator()(const NetworkOptions& options) const {
    *operation.mutable_network() = client::ToWire(options);
  }
};

}  // namespace

v1::ElementwiseOp ToWire(ElementwiseOp op) {
  static const std::array numbers = {
#define GPUCALL_ELEMENTWISE(Function, name, arity, ...) Number(#name),
#include "gpucall/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
  };
  return numbers[static_cast<size_t>(op)];
}

v1::MatMul ToWire(const MatMulOptions& options) {
  v1::MatMul matmul;
  matmul.set_transpose_a(options.transpose_a);
  matmul.set_transpose_b(options.transpose_b);
  matmul.set_output_dtype(static_cast<v1::DType>(options.output_dtype));
  switch (options.precision) {
    case MatMulPrecision::kHighest:
      break;
    case MatMulPrecision::kTf32:
      matmul.set_precision(v1::MATMUL_PRECISION_TF32);
      break;
    case MatMulPrecision::kBf16:
      matmul.set_precision(v1::MATMUL_PRECISION_BF16);
      break;
  }
  if (options.alpha != 1) matmul.set_alpha(options.alpha);
  if (options.beta != 1) matmul.set_beta(options.beta);
  matmul.set_addend(options.addend);
  matmul.set_bias(options.bias);
  // In the order of the values.
  matmul.set_activation(static_cast<v1::Activation>(options.activation));
  return matmul;
}

v1::Filter ToWire(const FilterOptions& options) {
  v1::Filter filter;
  std::visit(
      [&filter](const auto& kind) {
        SetKind(kind, filter);
        if constexpr (requires { kind.axes; }) {
          if (kind.axes.has_value()) {
            filter.mutable_axes()->mutable_axis()->Add(kind.axes->begin(), kind.axes->end());
          }
        }
        if constexpr (requires { kind.border; }) {
          filter.mutable_border()->set_mode(ToWire(kind.border.mode));
          filter.mutable_border()->set_cval(kind.border.cval);
          filter.set_output_dtype(static_cast<v1::DType>(kind.output_dtype));
        }
      },
      options);
  return filter;
}

v1::Sort ToWire(const SortOptions& options) {
  v1::Sort sort;
  if (options.axis.has_value()) sort.set_axis(*options.axis);
  sort.set_descending(options.descending);
  sort.set_indices(options.indices);
  if (options.count.has_value()) sort.set_count(*options.count);
  return sort;
}

v1::Scan ToWire(const ScanOptions& options) {
  v1::Scan scan;
  scan.set_op(options.op == ScanOp::kCumSum ? v1::SCAN_OP_CUMSUM : v1::SCAN_OP_CUMPROD);
  if (options.axis.has_value()) scan.set_axis(*options.axis);
  return scan;
}

v1::Take ToWire(const TakeOptions& options) {
  v1::Take take;
  if (options.axis.has_value()) take.set_axis(*options.axis);
  take.set_along(options.along);
  return take;
}

v1::Network ToWire(const NetworkOptions& options) {
  v1::Network network;
  std::visit(
      [&network](const auto& kind) {
        SetKind(kind, network);
        network.set_layout(kind.layout == ImageLayout::kNchw ? v1::IMAGE_LAYOUT_NCHW
                                                             : v1::IMAGE_LAYOUT_NHWC);
      },
      options);
  return network;
}

v1::Program ToWire(const Program& program) {
  v1::Program message;
  for (const Program::Operation& from : program.operations()) {
    v1::Operation& operation = *message.add_operations();
    std::visit(SetAttributes{operation}, from.attributes);
    operation.mutable_inputs()->Add(from.inputs.begin(), from.inputs.end());
  }
  message.mutable_outputs()->Add(program.outputs().begin(), program.outputs().end());
  return message;
}

}  // namespace client
}  // namespace gpucall
