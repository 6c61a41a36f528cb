#include "server/program/filter_kinds.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

bool IsDerivative(const NdFilterAttributes& attributes) {
  if (attributes.kind == FilterKind::kGaussian) {
    return absl::c_any_of(attributes.order, [](int order) { return order != 0; });
  }
  return IsGaussian(attributes.kind) || IsDerivativeAlong(attributes.kind) ||
         attributes.kind == FilterKind::kLaplacian;
}

bool Subtracts(FilterKind kind) {
  return kind == FilterKind::kMorphologicalGradient || kind == FilterKind::kWhiteTophat ||
         kind == FilterKind::kBlackTophat;
}

}  // namespace

bool IsBinary(FilterKind kind) { return kind >= FilterKind::kBinaryErosion; }

bool IsGaussian(FilterKind kind) {
  return kind == FilterKind::kGaussian || kind == FilterKind::kGaussianLaplace ||
         kind == FilterKind::kGaussianGradientMagnitude;
}

bool IsDerivativeAlong(FilterKind kind) {
  return kind == FilterKind::kSobel || kind == FilterKind::kPrewitt || kind == FilterKind::kScharr;
}

bool OrdersElements(FilterKind kind) {
  switch (kind) {
    case FilterKind::kMedian:
    case FilterKind::kMinimum:
    case FilterKind::kMaximum:
    case FilterKind::kRank:
    case FilterKind::kPercentile:
    case FilterKind::kGreyErosion:
    case FilterKind::kGreyDilation:
    case FilterKind::kGreyOpening:
    case FilterKind::kGreyClosing:
      return true;
    default:
      return Subtracts(kind) || IsBinary(kind);
  }
}

bool HasWholeWindow(FilterKind kind, bool has_footprint) {
  return kind == FilterKind::kMedian || kind == FilterKind::kRank ||
         kind == FilterKind::kPercentile || has_footprint;
}

absl::StatusOr<DType> NdOutputDType(const NdFilterAttributes& attributes, DType image) {
  const FilterKind kind = attributes.kind;
  const bool sums =
      kind == FilterKind::kGaussianLaplace || kind == FilterKind::kGaussianGradientMagnitude;
  const bool only_float = sums || (Subtracts(kind) && IsFloating(image));
  DType output = attributes.output_dtype;
  if (output == DType::kUnspecified) {
    output = image;
    if (IsBinary(kind)) {
      output = DType::kBool;
    } else if (IsDerivative(attributes) && !IsFloating(image)) {
      output = ElementSize(image) <= 2 ? DType::kFloat32 : DType::kFloat64;
    }
  }
  const bool offered = IsBinary(kind) ? output == DType::kBool
                                      : IsFloating(output) || (IsInteger(output) && !only_float);
  if (offered) return output;
  return absl::UnimplementedError(absl::StrCat(RowOf(kind).name, ": output_dtype ",
                                               DTypeName(output), " is not offered, dtypes are ",
                                               IsBinary(kind) ? "bool"
                                               : only_float   ? "floats"
                                                              : "floats and integers"));
}

}  // namespace gpucall
