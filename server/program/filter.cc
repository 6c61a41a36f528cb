#include "server/program/filter.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

constexpr absl::string_view kAxisName[] = {"rows", "columns"};

bool IsImageDType(DType dtype) { return dtype == DType::kUint8 || dtype == DType::kFloat32; }

// Weights exp(-x^2 / (2 sigma^2)) for |x| <= radius, normalised; radius int(truncate * sigma + 0.5)
// as scipy.ndimage.
absl::StatusOr<std::vector<double>> GaussianWeights(double sigma, double truncate, int axis) {
  const std::string allowed =
      absl::StrCat("0 or more, with a kernel of at most ", kMaxWindowSide, " elements");
  if (!(sigma >= 0) || !std::isfinite(sigma)) {
    return absl::InvalidArgumentError(absl::StrCat("gaussian: sigma of the ", kAxisName[axis],
                                                   " is ", sigma, ", allowed is ", allowed));
  }
  const double radius = std::floor(truncate * sigma + 0.5);
  if (radius > (kMaxWindowSide - 1) / 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gaussian: sigma ", sigma, " with truncate ", truncate, " gives the ", kAxisName[axis],
        " a kernel of ", 2 * radius + 1, " elements, allowed is ", allowed));
  }
  const int64_t r = static_cast<int64_t>(radius);
  std::vector<double> weights(2 * r + 1, 1.0);
  for (int64_t x = -r; x <= r && r > 0; ++x) {
    weights[x + r] = std::exp(-0.5 * static_cast<double>(x * x) / (sigma * sigma));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

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

absl::Status LowerGaussian(const FilterAttributes& attributes, FilterStep& step) {
  if (!(attributes.truncate >= 0) || !std::isfinite(attributes.truncate)) {
    return absl::InvalidArgumentError(
        absl::StrCat("gaussian: truncate is ", attributes.truncate, ", allowed is 0 or more"));
  }
  GPUCALL_ASSIGN_OR_RETURN(step.row_weights,
                           GaussianWeights(attributes.sigma[0], attributes.truncate, 0));
  GPUCALL_ASSIGN_OR_RETURN(step.column_weights,
                           GaussianWeights(attributes.sigma[1], attributes.truncate, 1));
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
      GPUCALL_RETURN_IF_ERROR(LowerGaussian(attributes, step));
      break;
    case FilterKind::kBox:
      GPUCALL_RETURN_IF_ERROR(LowerWindowed(row, attributes, kMaxWindowSide, step));
      step.row_weights.assign(step.size[0], 1.0 / static_cast<double>(step.size[0]));
      step.column_weights.assign(step.size[1], 1.0 / static_cast<double>(step.size[1]));
      return absl::OkStatus();
    case FilterKind::kSobel:
      step.row_weights = {-1, 0, 1};
      step.column_weights = {1, 2, 1};
      if (attributes.axis == 1) std::swap(step.row_weights, step.column_weights);
      break;
    case FilterKind::kLaplacian:
      step.form = FilterStep::Form::kDense;
      step.dense_weights = {0, 1, 0, 1, -4, 1, 0, 1, 0};
      step.size = {3, 3};
      step.before = {1, 1};
      return absl::OkStatus();
    case FilterKind::kMedian:
      step.form = FilterStep::Form::kMedian;
      return LowerWindowed(row, attributes, kMaxMedianSide, step);
    case FilterKind::kCorrelate:
    case FilterKind::kConvolve:
      step.form = FilterStep::Form::kDense;
      return LowerDense(row, attributes, kernel, step);
  }
  step.size = {static_cast<int64_t>(step.row_weights.size()),
               static_cast<int64_t>(step.column_weights.size())};
  step.before = {step.size[0] / 2, step.size[1] / 2};
  return absl::OkStatus();
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

absl::StatusOr<FilterLowering> LowerFilter(const FilterAttributes& attributes,
                                           const TensorType& image, const TensorType* kernel) {
  const CatalogueRow& row = RowOf(attributes.kind);
  if (!IsImageDType(image.dtype)) {
    return absl::UnimplementedError(absl::StrCat(row.name, ": image dtype ", DTypeName(image.dtype),
                                                 " is not offered, dtypes are uint8, float32"));
  }
  if (image.shape.size() != 2 && image.shape.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(row.name, ": image has shape ", ShapeString(image.shape),
                     ", allowed is (rows, columns) or (rows, columns, channels)"));
  }
  GPUCALL_RETURN_IF_ERROR(CheckBorder(row, attributes, image));
  FilterLowering result;
  FilterStep& step = result.step;
  step.mode = attributes.mode;
  step.cval = attributes.cval;
  step.rows = image.shape[0];
  step.columns = image.shape[1];
  step.channels = image.shape.size() == 3 ? image.shape[2] : 1;
  GPUCALL_RETURN_IF_ERROR(LowerKind(row, attributes, kernel, step));

  const bool derivative =
      attributes.kind == FilterKind::kSobel || attributes.kind == FilterKind::kLaplacian;
  result.output_dtype = attributes.output_dtype;
  if (result.output_dtype == DType::kUnspecified)
    result.output_dtype = derivative ? DType::kFloat32 : image.dtype;
  if (!IsImageDType(result.output_dtype)) {
    return absl::UnimplementedError(absl::StrCat(row.name, ": output_dtype ",
                                                 DTypeName(result.output_dtype),
                                                 " is not offered, dtypes are uint8, float32"));
  }
  return result;
}

}  // namespace gpucall
