#include "server/program/filter.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"
#include "server/program/filter_weights.h"

namespace gpucall {
namespace {

bool IsImageDType(DType dtype) { return dtype == DType::kUint8 || dtype == DType::kFloat32; }

absl::Status CheckSide(absl::string_view name, absl::string_view what, int64_t size, int axis,
                       int64_t limit) {
  if (size >= 1 && size <= limit) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", what, " of the ", kAxisName[axis],
                                                 " is ", size, ", allowed is 1 to ", limit));
}

// How many window elements lie before the output's own position.
absl::StatusOr<int64_t> Before(absl::string_view name, int64_t size, int64_t origin, int axis,
                               bool flip) {
  const int64_t low = -(size / 2);
  const int64_t high = (size - 1) / 2;
  if (origin < low || origin > high) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": origin of the ", kAxisName[axis],
                                                   " is ", origin, ", for size ", size,
                                                   " allowed is ", low, " to ", high));
  }
  // As scipy.ndimage, which turns a convolution into the correlation with the flipped kernel.
  return flip ? high - origin : origin - low;
}

absl::Status SetWindow(absl::string_view name, const FilterAttributes& attributes,
                       FilterStep& step) {
  for (int axis = 0; axis < 2; ++axis) {
    GPUCALL_ASSIGN_OR_RETURN(
        step.before[axis], Before(name, step.size[axis], attributes.origin[axis], axis, step.flip));
  }
  return absl::OkStatus();
}

absl::Status LowerWindowed(const CatalogueRow& row, const FilterAttributes& attributes,
                           int64_t limit, FilterStep& step) {
  step.size = attributes.size;
  for (int axis = 0; axis < 2; ++axis) {
    GPUCALL_RETURN_IF_ERROR(CheckSide(row.name, "size", step.size[axis], axis, limit));
  }
  return SetWindow(row.name, attributes, step);
}

absl::Status LowerGaussian(const CatalogueRow& row, const FilterAttributes& attributes,
                           FilterStep& step) {
  GPUCALL_RETURN_IF_ERROR(CheckTruncate(row.name, attributes.truncate));
  for (int axis = 0; axis < 2; ++axis) {
    GPUCALL_ASSIGN_OR_RETURN((axis == 0 ? step.row_weights : step.column_weights),
                             GaussianWeights(row.name, attributes.sigma[axis], attributes.truncate,
                                             attributes.order[axis], kAxisName[axis]));
  }
  return absl::OkStatus();
}

// `across`: weights along the other axis.
void LowerDerivative(int axis, std::vector<double> across, FilterStep& step) {
  step.row_weights = {-1, 0, 1};
  step.column_weights = std::move(across);
  if (axis == 1) std::swap(step.row_weights, step.column_weights);
}

absl::Status LowerRank(const CatalogueRow& row, const FilterAttributes& attributes,
                       FilterStep& step) {
  GPUCALL_RETURN_IF_ERROR(LowerWindowed(row, attributes, kMaxRankSide, step));
  const int64_t count = step.size[0] * step.size[1];
  GPUCALL_ASSIGN_OR_RETURN(step.rank,
                           RankOf(attributes.kind, attributes.rank, attributes.percentile, count));
  step.form = FilterStep::Form::kRank;
  if (step.rank == 0) step.form = FilterStep::Form::kMinimum;
  if (step.rank == count - 1) step.form = FilterStep::Form::kMaximum;
  return absl::OkStatus();
}

absl::Status LowerDense(const CatalogueRow& row, const FilterAttributes& attributes,
                        const TensorType* kernel, FilterStep& step) {
  if (kernel == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(row.name, ": kernel is missing, a tensor rows x columns is needed"));
  }
  if (kernel->shape.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(row.name, ": kernel has shape ",
                                                   ShapeString(kernel->shape),
                                                   ", allowed is 2 dimensions (rows, columns)"));
  }
  if (!IsOffered(kernel->dtype) || kernel->dtype == DType::kBool) {
    return absl::UnimplementedError(
        absl::StrCat(row.name, ": kernel dtype ", DTypeName(kernel->dtype),
                     " is not offered, dtypes are uint8, int32, float32, float64"));
  }
  step.size = {kernel->shape[0], kernel->shape[1]};
  for (int axis = 0; axis < 2; ++axis) {
    GPUCALL_RETURN_IF_ERROR(
        CheckSide(row.name, "kernel size", step.size[axis], axis, kMaxWindowSide));
  }
  if (step.size[0] * step.size[1] > kMaxDenseWindow) {
    return absl::InvalidArgumentError(
        absl::StrCat(row.name, ": kernel of shape ", ShapeString(kernel->shape), " has ",
                     step.size[0] * step.size[1], " elements, allowed are ", kMaxDenseWindow));
  }
  step.flip = attributes.kind == FilterKind::kConvolve;
  return SetWindow(row.name, attributes, step);
}

absl::Status LowerKind(const CatalogueRow& row, const FilterAttributes& attributes,
                       const TensorType* kernel, FilterStep& step) {
  step.form = FilterStep::Form::kSeparable;
  switch (attributes.kind) {
    case FilterKind::kGaussian:
    case FilterKind::kGaussianLaplace:
    case FilterKind::kGaussianGradientMagnitude:
      GPUCALL_RETURN_IF_ERROR(LowerGaussian(row, attributes, step));
      break;
    case FilterKind::kBox:
      GPUCALL_RETURN_IF_ERROR(LowerWindowed(row, attributes, kMaxWindowSide, step));
      step.row_weights.assign(step.size[0], 1.0 / static_cast<double>(step.size[0]));
      step.column_weights.assign(step.size[1], 1.0 / static_cast<double>(step.size[1]));
      return absl::OkStatus();
    case FilterKind::kSobel:
      LowerDerivative(attributes.axis, {1, 2, 1}, step);
      break;
    case FilterKind::kPrewitt:
      LowerDerivative(attributes.axis, {1, 1, 1}, step);
      break;
    case FilterKind::kScharr:
      LowerDerivative(attributes.axis, {3, 10, 3}, step);
      break;
    case FilterKind::kLaplacian:
      step.form = FilterStep::Form::kDense;
      step.dense_weights = {0, 1, 0, 1, -4, 1, 0, 1, 0};
      step.size = {3, 3};
      step.before = {1, 1};
      return absl::OkStatus();
    case FilterKind::kMedian:
    case FilterKind::kRank:
    case FilterKind::kPercentile:
      return LowerRank(row, attributes, step);
    case FilterKind::kMinimum:
    case FilterKind::kGreyErosion:
    case FilterKind::kGreyOpening:
    case FilterKind::kMorphologicalGradient:
    case FilterKind::kWhiteTophat:
      step.form = FilterStep::Form::kMinimum;
      return LowerWindowed(row, attributes, kMaxWindowSide, step);
    case FilterKind::kMaximum:
      step.form = FilterStep::Form::kMaximum;
      return LowerWindowed(row, attributes, kMaxWindowSide, step);
    case FilterKind::kGreyDilation:
    case FilterKind::kGreyClosing:
    case FilterKind::kBlackTophat:
      step.form = FilterStep::Form::kMaximum;
      step.flip = true;
      return LowerWindowed(row, attributes, kMaxWindowSide, step);
    case FilterKind::kCorrelate:
    case FilterKind::kConvolve:
      step.form = FilterStep::Form::kDense;
      return LowerDense(row, attributes, kernel, step);
    case FilterKind::kCorrelate1d:
    case FilterKind::kConvolve1d:
    case FilterKind::kBinaryErosion:
    case FilterKind::kBinaryDilation:
    case FilterKind::kBinaryOpening:
    case FilterKind::kBinaryClosing:
      return absl::InternalError(absl::StrCat(row.name, ": is a filter over axes"));
  }
  step.size = {static_cast<int64_t>(step.row_weights.size()),
               static_cast<int64_t>(step.column_weights.size())};
  step.before = {step.size[0] / 2, step.size[1] / 2};
  return absl::OkStatus();
}

bool IsDerivative(const FilterAttributes& attributes) {
  switch (attributes.kind) {
    case FilterKind::kGaussian:
      return attributes.order != std::array<int, 2>{0, 0};
    case FilterKind::kSobel:
    case FilterKind::kPrewitt:
    case FilterKind::kScharr:
    case FilterKind::kLaplacian:
    case FilterKind::kGaussianLaplace:
    case FilterKind::kGaussianGradientMagnitude:
      return true;
    default:
      return false;
  }
}

// uint8 results of filters whose last operation is not a filter, which rounds and saturates, are
// offered only where every intermediate result is uint8.
absl::StatusOr<DType> OutputDType(const CatalogueRow& row, const FilterAttributes& attributes,
                                  DType image) {
  DType output = attributes.output_dtype;
  if (output == DType::kUnspecified) output = IsDerivative(attributes) ? DType::kFloat32 : image;
  const bool subtracts = attributes.kind == FilterKind::kMorphologicalGradient ||
                         attributes.kind == FilterKind::kWhiteTophat ||
                         attributes.kind == FilterKind::kBlackTophat;
  const bool sums = attributes.kind == FilterKind::kGaussianLaplace ||
                    attributes.kind == FilterKind::kGaussianGradientMagnitude;
  const bool only_float = sums || (subtracts && image == DType::kFloat32);
  if (IsImageDType(output) && !(only_float && output == DType::kUint8)) return output;
  return absl::UnimplementedError(absl::StrCat(row.name, ": output_dtype ", DTypeName(output),
                                               " is not offered, dtypes are ",
                                               only_float ? "float32" : "uint8, float32"));
}

absl::Status CheckBorder(const CatalogueRow& row, const FilterAttributes& attributes,
                         const TensorType& image) {
  if (attributes.mode != BorderMode::kConstant || image.dtype != DType::kUint8)
    return absl::OkStatus();
  if (attributes.cval >= 0 && attributes.cval <= 255 &&
      attributes.cval == std::floor(attributes.cval)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(row.name, ": cval is ", attributes.cval,
                   ", for a uint8 image allowed are the integers 0 to 255"));
}

}  // namespace

absl::Status CheckTruncate(absl::string_view name, double truncate) {
  if (truncate >= 0 && std::isfinite(truncate)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": truncate is ", truncate, ", allowed is 0 or more"));
}

absl::Status CheckImageShape(absl::string_view name, const Shape& shape) {
  if (shape.size() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": image has shape ", ShapeString(shape),
                     ", allowed without axes is (rows, columns), (rows, columns, channels) or "
                     "(..., rows, columns, channels)"));
  }
  const int64_t images = ElementCount(absl::MakeSpan(shape).first(FirstImageAxis(shape)));
  if (images <= kMaxFilterImages) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", images, " images in shape ",
                                                 ShapeString(shape), ", allowed without axes are ",
                                                 kMaxFilterImages));
}

size_t FirstImageAxis(const Shape& shape) { return shape.size() > 3 ? shape.size() - 3 : 0; }

absl::StatusOr<int64_t> RankOf(FilterKind kind, int64_t rank, double percentile, int64_t count) {
  const absl::string_view name = RowOf(kind).name;
  if (kind == FilterKind::kMedian) return count / 2;
  if (kind == FilterKind::kRank) {
    const int64_t from_first = rank < 0 ? rank + count : rank;
    if (from_first >= 0 && from_first < count) return from_first;
    return absl::InvalidArgumentError(absl::StrCat(name, ": rank is ", rank, ", for a window of ",
                                                   count, " elements allowed is ", -count, " to ",
                                                   count - 1));
  }
  const double positive = percentile < 0 ? percentile + 100 : percentile;
  if (!(positive >= 0 && positive <= 100)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": percentile is ", percentile, ", allowed is -100 to 100"));
  }
  if (positive == 100) return count - 1;
  return static_cast<int64_t>(static_cast<double>(count) * positive / 100);
}

absl::StatusOr<FilterLowering> LowerFilter(const FilterAttributes& attributes,
                                           const TensorType& image, const TensorType* kernel) {
  const CatalogueRow& row = RowOf(attributes.kind);
  if (!IsImageDType(image.dtype)) {
    return absl::UnimplementedError(absl::StrCat(row.name, ": image dtype ", DTypeName(image.dtype),
                                                 " is not offered, dtypes are uint8, float32"));
  }
  GPUCALL_RETURN_IF_ERROR(CheckImageShape(row.name, image.shape));
  GPUCALL_RETURN_IF_ERROR(CheckBorder(row, attributes, image));
  FilterLowering result;
  FilterStep& step = result.step;
  step.mode = attributes.mode;
  step.cval = attributes.cval;
  const size_t rows = FirstImageAxis(image.shape);
  step.images = ElementCount(absl::MakeSpan(image.shape).first(rows));
  step.rows = image.shape[rows];
  step.columns = image.shape[rows + 1];
  step.channels = image.shape.size() > 2 ? image.shape.back() : 1;
  GPUCALL_RETURN_IF_ERROR(LowerKind(row, attributes, kernel, step));

  GPUCALL_ASSIGN_OR_RETURN(result.output_dtype, OutputDType(row, attributes, image.dtype));
  return result;
}

}  // namespace gpucall
