#include "server/program/filter_nd.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/axes.h"
#include "server/program/catalogue.h"
#include "server/program/filter.h"
#include "server/program/filter_kinds.h"
#include "server/program/filter_weights.h"

namespace gpucall {
namespace {

// One filter in the making.
class Check {
 public:
  Check(const NdFilterAttributes& attributes, const TensorType& image, const TensorType* kernel)
      : attributes_(attributes), image_(image), kernel_(kernel), row_(RowOf(attributes.kind)) {}

  absl::StatusOr<NdFilter> Run() {
    GPUCALL_RETURN_IF_ERROR(CheckOffered(row_, image_.dtype));
    filter_.kind = attributes_.kind;
    filter_.cval = attributes_.cval;
    filter_.truncate = attributes_.truncate;
    filter_.image = image_.dtype;
    GPUCALL_RETURN_IF_ERROR(SetAxes());
    GPUCALL_ASSIGN_OR_RETURN(filter_.modes, ForEach("mode", attributes_.modes));
    GPUCALL_RETURN_IF_ERROR(CheckFill());
    if (IsGaussian(filter_.kind)) {
      GPUCALL_RETURN_IF_ERROR(SetGaussian());
    } else if (IsLine()) {
      GPUCALL_RETURN_IF_ERROR(SetLine());
    } else if (OrdersElements(filter_.kind) || filter_.kind == FilterKind::kBox) {
      GPUCALL_RETURN_IF_ERROR(SetWindow());
    } else if (kernel_ != nullptr) {
      GPUCALL_RETURN_IF_ERROR(SetKernel());
    } else if (IsDerivativeAlong(filter_.kind)) {
      GPUCALL_RETURN_IF_ERROR(SetAlong());
    }
    if (attributes_.footprint.has_value() && !OrdersElements(filter_.kind)) {
      return Invalid("footprint is given, allowed only of filters that order elements");
    }
    GPUCALL_ASSIGN_OR_RETURN(filter_.output, NdOutputDType(attributes_, image_.dtype));
    return std::move(filter_);
  }

 private:
  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat(row_.name, ": ", parts...));
  }
  bool IsLine() const {
    return filter_.kind == FilterKind::kCorrelate1d || filter_.kind == FilterKind::kConvolve1d;
  }
  std::string AxisAt(size_t i) const { return absl::StrCat("axis ", filter_.axes[i]); }

  // The list with a value for each axis.
  template <typename List>
  absl::StatusOr<List> ForEach(absl::string_view what, const List& given) const {
    const size_t count = filter_.axes.size();
    if (given.size() == count) return given;
    if (given.size() == 1) return List(count, given[0]);
    return Invalid(what, " has ", given.size(), " values, allowed is one, or one for each of the ",
                   count, " axes");
  }

  absl::Status SetAxes() {
    const size_t rank = image_.shape.size();
    Axes axes = {0, 1};
    if (IsLine()) {
      axes = {attributes_.axis};
    } else if (attributes_.axes.has_value()) {
      axes = *attributes_.axes;
    } else if (IsBinary(filter_.kind)) {
      axes.resize(rank);
      for (size_t d = 0; d < rank; ++d) axes[d] = static_cast<int64_t>(d);
    } else {
      GPUCALL_RETURN_IF_ERROR(CheckImageShape(row_.name, image_.shape));
      const auto first = static_cast<int64_t>(FirstImageAxis(image_.shape));
      axes = {first, first + 1};
    }
    GPUCALL_RETURN_IF_ERROR(CheckedAxes(row_.name, axes, rank).status());
    for (const int64_t axis : axes) {
      filter_.axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
    }
    return absl::OkStatus();
  }

  absl::Status CheckFill() const {
    const bool used = absl::c_linear_search(filter_.modes, BorderMode::kConstant);
    if (!used || !IsInteger(image_.dtype)) return absl::OkStatus();
    const int bits = static_cast<int>(8 * ElementSize(image_.dtype));
    const bool is_signed = KindOf(image_.dtype) == DTypeKind::kSigned;
    const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    const double low = is_signed ? -end : 0;
    const double cval = filter_.cval;
    if (cval >= low && cval < end && cval == std::floor(cval)) return absl::OkStatus();
    return Invalid("cval is ", cval, ", for a ", DTypeName(image_.dtype),
                   " image allowed are the integers ", is_signed ? "-" : "0",
                   is_signed ? absl::StrCat("2^", bits - 1) : "", " to 2^",
                   is_signed ? bits - 1 : bits, " - 1");
  }

  absl::Status SetAlong() {
    const auto count = static_cast<int64_t>(filter_.axes.size());
    const int64_t axis = attributes_.axis;
    if (axis < -count || axis >= count) {
      return Invalid("axis is ", axis, ", for ", count, " axes allowed are ", -count, " to ",
                     count - 1);
    }
    filter_.axis = static_cast<size_t>(axis < 0 ? axis + count : axis);
    return absl::OkStatus();
  }

  absl::Status SetGaussian() {
    GPUCALL_RETURN_IF_ERROR(CheckTruncate(row_.name, attributes_.truncate));
    GPUCALL_ASSIGN_OR_RETURN(filter_.sigma, ForEach("sigma", attributes_.sigma));
    GPUCALL_ASSIGN_OR_RETURN(const PerAxis<int> orders, ForEach("order", attributes_.order));
    for (size_t i = 0; i < filter_.axes.size(); ++i) {
      GPUCALL_ASSIGN_OR_RETURN(
          auto weights,
          GaussianWeights(row_.name, filter_.sigma[i], filter_.truncate, orders[i], AxisAt(i)));
      filter_.weights.push_back(std::move(weights));
    }
    return absl::OkStatus();
  }

  absl::Status SetLine() {
    const auto count = static_cast<int64_t>(attributes_.weights.size());
    if (count < 1 || count > kMaxWindowSide) {
      return Invalid("weights are ", count, ", allowed are 1 to ", kMaxWindowSide);
    }
    filter_.weights = {attributes_.weights};
    filter_.size = {count};
    GPUCALL_RETURN_IF_ERROR(SetBefore());
    if (filter_.kind == FilterKind::kConvolve1d) {
      absl::c_reverse(filter_.weights[0]);
      filter_.before = filter_.before_mirrored;
    }
    return absl::OkStatus();
  }

  // Sizes are set.
  absl::Status SetBefore() {
    GPUCALL_ASSIGN_OR_RETURN(const auto origins, ForEach("origin", attributes_.origin));
    for (size_t i = 0; i < filter_.axes.size(); ++i) {
      const int64_t low = -(filter_.size[i] / 2), high = (filter_.size[i] - 1) / 2;
      if (origins[i] < low || origins[i] > high) {
        return Invalid("origin of ", AxisAt(i), " is ", origins[i], ", for size ", filter_.size[i],
                       " allowed is ", low, " to ", high);
      }
      filter_.before.push_back(origins[i] - low);
      filter_.before_mirrored.push_back(high - origins[i]);
    }
    return absl::OkStatus();
  }

  // The elements of a window that is looked at whole.
  absl::StatusOr<int64_t> CountWindow(absl::string_view what) const {
    int64_t count = 1;
    for (size_t i = 0; i < filter_.size.size(); ++i) {
      const int64_t size = filter_.size[i];
      if (size < 1 || size > kMaxDenseWindow) {
        return Invalid(what, " of ", AxisAt(i), " is ", size, ", allowed is 1 to ",
                       kMaxDenseWindow);
      }
      count *= size;  // both at most 2^16
      if (count > kMaxDenseWindow) {
        return Invalid(what, " ", ShapeString(filter_.size), " has too many elements, allowed are ",
                       kMaxDenseWindow);
      }
    }
    return count;
  }

  absl::Status SetKernel() {
    if (KindOf(kernel_->dtype) == DTypeKind::kComplex) {
      return absl::UnimplementedError(absl::StrCat(row_.name, ": kernel dtype ",
                                                   DTypeName(kernel_->dtype),
                                                   " is not offered, real ones are"));
    }
    GPUCALL_RETURN_IF_ERROR(MatchAxes("kernel", kernel_->shape));
    filter_.size = kernel_->shape;
    GPUCALL_RETURN_IF_ERROR(CountWindow("kernel size").status());
    return SetBefore();
  }

  absl::Status MatchAxes(absl::string_view what, absl::Span<const int64_t> shape) const {
    if (shape.size() == filter_.axes.size()) return absl::OkStatus();
    return Invalid(what, " has shape ", ShapeString(shape),
                   ", allowed is one size for each of the ", filter_.axes.size(), " axes");
  }

  absl::Status SetWindow() {
    if (attributes_.footprint.has_value()) {
      GPUCALL_RETURN_IF_ERROR(SetFootprint(*attributes_.footprint));
    } else if (IsBinary(filter_.kind)) {
      SetCross();
    } else {
      GPUCALL_ASSIGN_OR_RETURN(const auto sizes, ForEach("size", attributes_.size));
      filter_.size.assign(sizes.begin(), sizes.end());
    }
    const bool whole = HasWholeWindow(filter_.kind, !filter_.footprint.empty());
    int64_t count = 1;
    if (whole) {
      GPUCALL_ASSIGN_OR_RETURN(count, CountWindow("size"));
    }
    for (size_t i = 0; i < filter_.size.size(); ++i) {
      if (filter_.size[i] >= 1 && (whole || filter_.size[i] <= kMaxWindowSide)) continue;
      return Invalid("size of ", AxisAt(i), " is ", filter_.size[i], ", allowed is 1 to ",
                     kMaxWindowSide);
    }
    if (!filter_.footprint.empty()) {
      count = absl::c_count_if(filter_.footprint, [](char c) { return c != 0; });
    }
    if (whole) {
      GPUCALL_RETURN_IF_ERROR(SetRank(count));
    }
    return SetBefore();
  }

  absl::Status SetRank(int64_t count) {
    filter_.iterations = attributes_.iterations;
    if (filter_.iterations < 1 || filter_.iterations > kMaxIterations) {
      return Invalid("iterations are ", filter_.iterations, ", allowed are 1 to ", kMaxIterations);
    }
    if (HasWholeWindow(filter_.kind, false)) {
      GPUCALL_ASSIGN_OR_RETURN(
          filter_.rank, RankOf(filter_.kind, attributes_.rank, attributes_.percentile, count));
    } else {
      filter_.rank = count - 1;  // of maxima; minima have rank 0
    }
    return absl::OkStatus();
  }

  absl::Status SetFootprint(const Footprint& footprint) {
    const absl::string_view what = IsBinary(filter_.kind) ? "structure" : "footprint";
    GPUCALL_RETURN_IF_ERROR(MatchAxes(what, footprint.shape));
    filter_.size = footprint.shape;
    GPUCALL_ASSIGN_OR_RETURN(const int64_t count, CountWindow(absl::StrCat("size of the ", what)));
    if (static_cast<int64_t>(footprint.elements.size()) != count) {
      return Invalid(what, " of shape ", ShapeString(footprint.shape), " has ",
                     footprint.elements.size(), " elements, needed are ", count);
    }
    if (absl::c_all_of(footprint.elements, [](char c) { return c == 0; })) {
      return Invalid(what, " has no element that is not 0, at least one is needed");
    }
    filter_.footprint = footprint.elements;
    return absl::OkStatus();
  }

  // The element and its neighbours along each axis.
  void SetCross() {
    const size_t rank = filter_.axes.size();
    filter_.size.assign(rank, 3);
    for (int64_t i = 0; i < ElementCount(filter_.size); ++i) {
      int away = 0;
      int64_t rest = i;
      for (size_t d = 0; d < rank; ++d, rest /= 3) away += rest % 3 != 1 ? 1 : 0;
      filter_.footprint.push_back(away <= 1 ? 1 : 0);
    }
  }

  const NdFilterAttributes& attributes_;
  const TensorType& image_;
  const TensorType* const kernel_;
  const CatalogueRow& row_;
  NdFilter filter_ = {};
};

}  // namespace

absl::StatusOr<NdFilter> CheckNdFilter(const NdFilterAttributes& attributes,
                                       const TensorType& image, const TensorType* kernel) {
  return Check(attributes, image, kernel).Run();
}

}  // namespace gpucall
