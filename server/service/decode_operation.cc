#include "server/service/decode_operation.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"
#include "server/service/decode_creation.h"
#include "server/service/decode_filter_nd.h"
#include "server/service/decode_image.h"
#include "server/service/decode_lines.h"
#include "server/service/decode_matmul.h"
#include "server/service/decode_network.h"
#include "server/service/decode_rearrange.h"
#include "server/service/decode_signal.h"

namespace gpucall {
namespace {

// Rows of one kind, counted from its first, by wire number; -1 where there is none. Names agree but
// for prefix and case.
std::vector<int> RowsByWireNumber(OperationKind kind, absl::string_view prefix,
                                  const google::protobuf::EnumDescriptor& numbers) {
  std::vector<int> table(numbers.value(numbers.value_count() - 1)->number() + 1, -1);
  int index = 0;
  for (const CatalogueRow& row : Catalogue()) {
    if (row.kind != kind) continue;
    const auto* value =
        numbers.FindValueByName(absl::StrCat(prefix, absl::AsciiStrToUpper(row.name)));
    if (value != nullptr) table[value->number()] = index;
    ++index;
  }
  return table;
}

// The row for wire number `number`, which names an operation of `kind`.
absl::StatusOr<int> RowAt(const std::vector<int>& table, absl::string_view kind, int number) {
  if (number == 0) return absl::InvalidArgumentError("op: is not set");
  if (number < 0 || number >= static_cast<int>(table.size()) || table[number] < 0) {
    return absl::UnimplementedError(
        absl::StrCat("op: ", kind, " operation number ", number, " is not offered by this server"));
  }
  return table[number];
}

// Reads one value for both axes, or (rows, columns); leaves the default where there is none.
template <typename T, typename Field>
absl::Status DecodePair(absl::string_view name, const Field& field, std::array<T, 2>& pair) {
  if (field.size() > 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": has ", field.size(), " values, allowed are one, or two (rows, columns)"));
  }
  if (field.size() > 0) pair = {field[0], field[field.size() - 1]};
  return absl::OkStatus();
}

template <typename Windowed>
absl::Status DecodeWindow(absl::string_view name, const Windowed& window,
                          FilterAttributes& attributes) {
  if (window.size().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": size is missing, allowed are one, or two (rows, columns)"));
  }
  GPUCALL_RETURN_IF_ERROR(DecodePair(absl::StrCat(name, ": size"), window.size(), attributes.size));
  return DecodePair(absl::StrCat(name, ": origin"), window.origin(), attributes.origin);
}

template <typename Gaussian>
absl::Status DecodeGaussian(absl::string_view name, const Gaussian& gaussian,
                            FilterAttributes& attributes) {
  if (gaussian.sigma().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": sigma is missing, allowed are one, or two (rows, columns)"));
  }
  if (gaussian.has_truncate()) attributes.truncate = gaussian.truncate();
  return DecodePair(absl::StrCat(name, ": sigma"), gaussian.sigma(), attributes.sigma);
}

template <typename Derivative>
absl::Status DecodeDerivative(absl::string_view name, const Derivative& derivative,
                              FilterAttributes& attributes) {
  const int axis = derivative.has_axis() ? derivative.axis() : -1;
  if (axis < -2 || axis > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": axis is ", axis,
                     ", allowed are 0 or -2 (down the rows) and 1 or -1 (along the columns)"));
  }
  attributes.axis = axis < 0 ? axis + 2 : axis;
  return absl::OkStatus();
}

std::vector<absl::string_view> FilterNames() {
  std::vector<absl::string_view> names;
  for (const CatalogueRow& row : Catalogue()) {
    if (row.kind == OperationKind::kFilter) names.push_back(row.name);
  }
  return names;
}

// Filters that have a window.
absl::Status DecodeWindowFilter(const v1::Filter& filter, FilterAttributes& attributes) {
  const auto decode = [&](absl::string_view name, FilterKind kind, const v1::Window& window) {
    attributes.kind = kind;
    return DecodeWindow(name, window, attributes);
  };
  switch (filter.kind_case()) {
    case v1::Filter::kMinimumFilter:
      return decode("minimum_filter", FilterKind::kMinimum, filter.minimum_filter());
    case v1::Filter::kMaximumFilter:
      return decode("maximum_filter", FilterKind::kMaximum, filter.maximum_filter());
    case v1::Filter::kGreyErosion:
      return decode("grey_erosion", FilterKind::kGreyErosion, filter.grey_erosion());
    case v1::Filter::kGreyDilation:
      return decode("grey_dilation", FilterKind::kGreyDilation, filter.grey_dilation());
    case v1::Filter::kGreyOpening:
      return decode("grey_opening", FilterKind::kGreyOpening, filter.grey_opening());
    case v1::Filter::kGreyClosing:
      return decode("grey_closing", FilterKind::kGreyClosing, filter.grey_closing());
    case v1::Filter::kMorphologicalGradient:
      return decode("morphological_gradient", FilterKind::kMorphologicalGradient,
                    filter.morphological_gradient());
    case v1::Filter::kWhiteTophat:
      return decode("white_tophat", FilterKind::kWhiteTophat, filter.white_tophat());
    case v1::Filter::kBlackTophat:
      return decode("black_tophat", FilterKind::kBlackTophat, filter.black_tophat());
    case v1::Filter::kRankFilter:
      attributes.rank = filter.rank_filter().rank();
      return decode("rank_filter", FilterKind::kRank, filter.rank_filter().window());
    case v1::Filter::kPercentileFilter:
      attributes.percentile = filter.percentile_filter().percentile();
      return decode("percentile_filter", FilterKind::kPercentile,
                    filter.percentile_filter().window());
    default:
      return absl::InvalidArgumentError(absl::StrCat("filter: kind is not set, allowed are ",
                                                     absl::StrJoin(FilterNames(), ", ")));
  }
}

absl::Status DecodeSmoothing(const v1::Gaussian& gaussian, FilterAttributes& attributes) {
  GPUCALL_RETURN_IF_ERROR(DecodePair("gaussian: order", gaussian.order(), attributes.order));
  return DecodeGaussian("gaussian", gaussian, attributes);
}

absl::Status DecodeKind(const v1::Filter& filter, FilterAttributes& attributes) {
  const auto derivative = [&](absl::string_view name, FilterKind kind, const auto& message) {
    attributes.kind = kind;
    return DecodeDerivative(name, message, attributes);
  };
  switch (filter.kind_case()) {
    case v1::Filter::kGaussian:
      attributes.kind = FilterKind::kGaussian;
      return DecodeSmoothing(filter.gaussian(), attributes);
    case v1::Filter::kGaussianLaplace:
      attributes.kind = FilterKind::kGaussianLaplace;
      return DecodeGaussian("gaussian_laplace", filter.gaussian_laplace(), attributes);
    case v1::Filter::kGaussianGradientMagnitude:
      attributes.kind = FilterKind::kGaussianGradientMagnitude;
      return DecodeGaussian("gaussian_gradient_magnitude", filter.gaussian_gradient_magnitude(),
                            attributes);
    case v1::Filter::kBox:
      attributes.kind = FilterKind::kBox;
      return DecodeWindow("box", filter.box(), attributes);
    case v1::Filter::kSobel:
      return derivative("sobel", FilterKind::kSobel, filter.sobel());
    case v1::Filter::kPrewitt:
      return derivative("prewitt", FilterKind::kPrewitt, filter.prewitt());
    case v1::Filter::kScharr:
      return derivative("scharr", FilterKind::kScharr, filter.scharr());
    case v1::Filter::kLaplacian:
      attributes.kind = FilterKind::kLaplacian;
      return absl::OkStatus();
    case v1::Filter::kMedian:
      attributes.kind = FilterKind::kMedian;
      return DecodeWindow("median", filter.median(), attributes);
    case v1::Filter::kCorrelate:
      attributes.kind = FilterKind::kCorrelate;
      return DecodePair("correlate: origin", filter.correlate().origin(), attributes.origin);
    case v1::Filter::kConvolve:
      attributes.kind = FilterKind::kConvolve;
      return DecodePair("convolve: origin", filter.convolve().origin(), attributes.origin);
    default:
      return DecodeWindowFilter(filter, attributes);
  }
}

}  // namespace

absl::StatusOr<DType> DecodeDType(absl::string_view field, v1::DType dtype) {
  if (dtype > v1::DTYPE_UNSPECIFIED && dtype < kDTypeCount) return static_cast<DType>(dtype);
  return absl::InvalidArgumentError(absl::StrCat(field, ": dtype is ", static_cast<int>(dtype),
                                                 ", allowed are 1 (bool) to ", kDTypeCount - 1));
}

absl::StatusOr<BorderMode> DecodeBorderMode(absl::string_view name, v1::BorderMode mode) {
  switch (mode) {
    case v1::BORDER_MODE_NEAREST:
      return BorderMode::kNearest;
    case v1::BORDER_MODE_UNSPECIFIED:
    case v1::BORDER_MODE_REFLECT:
      return BorderMode::kReflect;
    case v1::BORDER_MODE_MIRROR:
      return BorderMode::kMirror;
    case v1::BORDER_MODE_WRAP:
      return BorderMode::kWrap;
    case v1::BORDER_MODE_CONSTANT:
      return BorderMode::kConstant;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": border mode is ", static_cast<int>(mode),
                       ", allowed are nearest, reflect, mirror, wrap, constant"));
  }
}

absl::StatusOr<decltype(Operation::attributes)> DecodeElementwise(v1::ElementwiseOp op,
                                                                  v1::DType output_dtype) {
  static const auto& table = *new std::vector<int>(RowsByWireNumber(
      OperationKind::kElementwise, "ELEMENTWISE_OP_", *v1::ElementwiseOp_descriptor()));
  GPUCALL_ASSIGN_OR_RETURN(const int row, RowAt(table, "elementwise", op));
  const auto elementwise = static_cast<ElementwiseOp>(row);
  if (elementwise == ElementwiseOp::kCast) {
    GPUCALL_ASSIGN_OR_RETURN(const DType dtype, DecodeDType("cast: output_dtype", output_dtype));
    return CastAttributes{dtype};
  }
  if (output_dtype == v1::DTYPE_UNSPECIFIED) return elementwise;
  return absl::InvalidArgumentError(absl::StrCat(RowOf(elementwise).name, ": output_dtype is ",
                                                 static_cast<int>(output_dtype),
                                                 ", allowed is none: cast alone takes one"));
}

absl::StatusOr<decltype(Operation::attributes)> DecodeFilter(const v1::Filter& filter) {
  DType output_dtype = DType::kUnspecified;
  if (filter.output_dtype() != v1::DTYPE_UNSPECIFIED) {
    GPUCALL_ASSIGN_OR_RETURN(output_dtype,
                             DecodeDType("filter: output_dtype", filter.output_dtype()));
  }
  if (IsNdFilter(filter)) {
    GPUCALL_ASSIGN_OR_RETURN(NdFilterAttributes attributes, DecodeNdFilter(filter));
    attributes.output_dtype = output_dtype;
    return attributes;
  }
  FilterAttributes attributes;
  attributes.output_dtype = output_dtype;
  GPUCALL_RETURN_IF_ERROR(DecodeKind(filter, attributes));
  GPUCALL_ASSIGN_OR_RETURN(attributes.mode, DecodeBorderMode("filter", filter.border().mode()));
  attributes.cval = filter.border().cval();
  return attributes;
}

absl::StatusOr<ReduceAttributes> DecodeReduce(const v1::Reduce& reduce) {
  static const auto& table = *new std::vector<int>(
      RowsByWireNumber(OperationKind::kReduce, "REDUCE_OP_", *v1::ReduceOp_descriptor()));
  GPUCALL_ASSIGN_OR_RETURN(const int row, RowAt(table, "reduce", reduce.op()));
  ReduceAttributes attributes;
  attributes.op = static_cast<ReduceOp>(row);
  if (reduce.has_axes()) {
    attributes.axes.emplace(reduce.axes().axis().begin(), reduce.axes().axis().end());
  }
  attributes.keepdims = reduce.keepdims();
  attributes.parameter = reduce.correction();
  if (attributes.op == ReduceOp::kNorm) {
    attributes.parameter = reduce.has_order() ? reduce.order() : 2;
  } else if (attributes.op == ReduceOp::kLayerNorm) {
    attributes.parameter = reduce.epsilon();
  }
  return attributes;
}

absl::StatusOr<Operation> DecodeOperation(const v1::Operation& operation) {
  Operation result;
  result.inputs.assign(operation.inputs().begin(), operation.inputs().end());
  switch (operation.kind_case()) {
    case v1::Operation::kElementwise: {
      GPUCALL_ASSIGN_OR_RETURN(
          result.attributes, DecodeElementwise(operation.elementwise(), operation.output_dtype()));
      return result;
    }
    case v1::Operation::kMatmul: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeMatMul(operation.matmul()));
      return result;
    }
    case v1::Operation::kFilter: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeFilter(operation.filter()));
      return result;
    }
    case v1::Operation::kReduce: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeReduce(operation.reduce()));
      return result;
    }
    case v1::Operation::kRearrange: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeRearrange(operation.rearrange()));
      return result;
    }
    case v1::Operation::kSort:
      result.attributes = DecodeSort(operation.sort());
      return result;
    case v1::Operation::kTake:
      result.attributes = DecodeTake(operation.take());
      return result;
    case v1::Operation::kScan: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeScan(operation.scan()));
      return result;
    }
    case v1::Operation::kCreation: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeCreation(operation.creation()));
      return result;
    }
    case v1::Operation::kImage: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeImage(operation.image()));
      return result;
    }
    case v1::Operation::kNetwork: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeNetwork(operation.network()));
      return result;
    }
    case v1::Operation::kSignal: {
      GPUCALL_ASSIGN_OR_RETURN(result.attributes, DecodeSignal(operation.signal()));
      return result;
    }
    case v1::Operation::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      "operation: kind is not set, allowed are elementwise, matmul, filter, reduce, rearrange, "
      "sort, scan, take, creation, image, network, signal");
}

}  // namespace gpucall
