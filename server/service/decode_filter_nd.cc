#include "server/service/decode_filter_nd.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/decode_operation.h"

namespace gpucall {
namespace {

absl::Status Missing(absl::string_view name, absl::string_view field) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": ", field, " is missing, allowed are one, or one for each of the axes"));
}

// Leaves the default where there is none.
template <typename List, typename Field>
void SetList(const Field& field, List& list) {
  if (!field.empty()) list.assign(field.begin(), field.end());
}

class Decoder {
 public:
  explicit Decoder(const v1::Filter& filter) : filter_(filter) {}

  absl::StatusOr<NdFilterAttributes> Decode() {
    GPUCALL_RETURN_IF_ERROR(DecodeKind());
    if (filter_.has_axes()) {
      attributes_.axes.emplace(filter_.axes().axis().begin(), filter_.axes().axis().end());
    }
    GPUCALL_RETURN_IF_ERROR(DecodeBorder());
    if (filter_.has_footprint()) {
      const v1::Footprint& footprint = filter_.footprint();
      attributes_.footprint.emplace();
      SetList(footprint.shape(), attributes_.footprint->shape);
      attributes_.footprint->elements = footprint.elements();
    }
    return std::move(attributes_);
  }

 private:
  absl::Status DecodeBorder() {
    // Binary filters have a value outside, and no modes.
    if (attributes_.kind >= FilterKind::kBinaryErosion) return absl::OkStatus();
    attributes_.cval = filter_.border().cval();
    GPUCALL_ASSIGN_OR_RETURN(attributes_.modes[0],
                             DecodeBorderMode("filter", filter_.border().mode()));
    if (filter_.modes().empty()) return absl::OkStatus();
    attributes_.modes.clear();
    for (const int mode : filter_.modes()) {
      GPUCALL_ASSIGN_OR_RETURN(const BorderMode decoded,
                               DecodeBorderMode("filter", static_cast<v1::BorderMode>(mode)));
      attributes_.modes.push_back(decoded);
    }
    return absl::OkStatus();
  }

  template <typename Windowed>
  absl::Status Window(absl::string_view name, FilterKind kind, const Windowed& window) {
    attributes_.kind = kind;
    if (window.size().empty() && !filter_.has_footprint()) return Missing(name, "size");
    SetList(window.size(), attributes_.size);
    SetList(window.origin(), attributes_.origin);
    return absl::OkStatus();
  }
  template <typename Message>
  absl::Status Sigmas(absl::string_view name, FilterKind kind, const Message& message) {
    attributes_.kind = kind;
    if (message.sigma().empty()) return Missing(name, "sigma");
    SetList(message.sigma(), attributes_.sigma);
    if (message.has_truncate()) attributes_.truncate = message.truncate();
    return absl::OkStatus();
  }
  template <typename Message>
  absl::Status Derivative(FilterKind kind, const Message& message) {
    attributes_.kind = kind;
    if (message.has_axis()) attributes_.axis = message.axis();
    return absl::OkStatus();
  }
  absl::Status Line(FilterKind kind, const v1::Line& line) {
    attributes_.kind = kind;
    attributes_.weights.assign(line.weights().begin(), line.weights().end());
    if (line.has_axis()) attributes_.axis = line.axis();
    attributes_.origin = {line.origin()};
    if (!filter_.has_axes()) return absl::OkStatus();
    return absl::InvalidArgumentError("filter: axes are given, allowed is axis alone");
  }
  absl::Status Binary(FilterKind kind, const v1::BinaryMorphology& binary) {
    attributes_.kind = kind;
    if (binary.has_iterations()) attributes_.iterations = binary.iterations();
    SetList(binary.origin(), attributes_.origin);
    attributes_.modes = {BorderMode::kConstant};
    attributes_.cval = binary.border_value() ? 1 : 0;
    return absl::OkStatus();
  }
  template <typename Message>
  absl::Status Dense(FilterKind kind, const Message& message) {
    attributes_.kind = kind;
    SetList(message.origin(), attributes_.origin);
    return absl::OkStatus();
  }

  absl::Status DecodeKind() {
    switch (filter_.kind_case()) {
      case v1::Filter::kGaussian:
        SetList(filter_.gaussian().order(), attributes_.order);
        return Sigmas("gaussian", FilterKind::kGaussian, filter_.gaussian());
      case v1::Filter::kGaussianLaplace:
        return Sigmas("gaussian_laplace", FilterKind::kGaussianLaplace, filter_.gaussian_laplace());
      case v1::Filter::kGaussianGradientMagnitude:
        return Sigmas("gaussian_gradient_magnitude", FilterKind::kGaussianGradientMagnitude,
                      filter_.gaussian_gradient_magnitude());
      case v1::Filter::kSobel:
        return Derivative(FilterKind::kSobel, filter_.sobel());
      case v1::Filter::kPrewitt:
        return Derivative(FilterKind::kPrewitt, filter_.prewitt());
      case v1::Filter::kScharr:
        return Derivative(FilterKind::kScharr, filter_.scharr());
      case v1::Filter::kLaplacian:
        attributes_.kind = FilterKind::kLaplacian;
        return absl::OkStatus();
      case v1::Filter::kCorrelate:
        return Dense(FilterKind::kCorrelate, filter_.correlate());
      case v1::Filter::kConvolve:
        return Dense(FilterKind::kConvolve, filter_.convolve());
      case v1::Filter::kCorrelate1D:
        return Line(FilterKind::kCorrelate1d, filter_.correlate1d());
      case v1::Filter::kConvolve1D:
        return Line(FilterKind::kConvolve1d, filter_.convolve1d());
      default:
        return DecodeWindow();
    }
  }

  absl::Status DecodeWindow() {
    switch (filter_.kind_case()) {
      case v1::Filter::kBox:
        return Window("box", FilterKind::kBox, filter_.box());
      case v1::Filter::kMedian:
        return Window("median", FilterKind::kMedian, filter_.median());
      case v1::Filter::kRankFilter:
        attributes_.rank = filter_.rank_filter().rank();
        return Window("rank_filter", FilterKind::kRank, filter_.rank_filter().window());
      case v1::Filter::kPercentileFilter:
        attributes_.percentile = filter_.percentile_filter().percentile();
        return Window("percentile_filter", FilterKind::kPercentile,
                      filter_.percentile_filter().window());
      case v1::Filter::kMinimumFilter:
        return Window("minimum_filter", FilterKind::kMinimum, filter_.minimum_filter());
      case v1::Filter::kMaximumFilter:
        return Window("maximum_filter", FilterKind::kMaximum, filter_.maximum_filter());
      case v1::Filter::kBinaryErosion:
        return Binary(FilterKind::kBinaryErosion, filter_.binary_erosion());
      case v1::Filter::kBinaryDilation:
        return Binary(FilterKind::kBinaryDilation, filter_.binary_dilation());
      case v1::Filter::kBinaryOpening:
        return Binary(FilterKind::kBinaryOpening, filter_.binary_opening());
      case v1::Filter::kBinaryClosing:
        return Binary(FilterKind::kBinaryClosing, filter_.binary_closing());
      default:
        return DecodeGreyMorphology();
    }
  }

  absl::Status DecodeGreyMorphology() {
    switch (filter_.kind_case()) {
      case v1::Filter::kGreyErosion:
        return Window("grey_erosion", FilterKind::kGreyErosion, filter_.grey_erosion());
      case v1::Filter::kGreyDilation:
        return Window("grey_dilation", FilterKind::kGreyDilation, filter_.grey_dilation());
      case v1::Filter::kGreyOpening:
        return Window("grey_opening", FilterKind::kGreyOpening, filter_.grey_opening());
      case v1::Filter::kGreyClosing:
        return Window("grey_closing", FilterKind::kGreyClosing, filter_.grey_closing());
      case v1::Filter::kMorphologicalGradient:
        return Window("morphological_gradient", FilterKind::kMorphologicalGradient,
                      filter_.morphological_gradient());
      case v1::Filter::kWhiteTophat:
        return Window("white_tophat", FilterKind::kWhiteTophat, filter_.white_tophat());
      case v1::Filter::kBlackTophat:
        return Window("black_tophat", FilterKind::kBlackTophat, filter_.black_tophat());
      default:
        return absl::InvalidArgumentError("filter: kind is not set");
    }
  }

  const v1::Filter& filter_;
  NdFilterAttributes attributes_;
};

}  // namespace

bool IsNdFilter(const v1::Filter& filter) {
  if (filter.kind_case() == v1::Filter::KIND_NOT_SET) return false;
  return filter.has_axes() || filter.has_footprint() || !filter.modes().empty() ||
         filter.kind_case() >= v1::Filter::kCorrelate1D;
}

absl::StatusOr<NdFilterAttributes> DecodeNdFilter(const v1::Filter& filter) {
  return Decoder(filter).Decode();
}

}  // namespace gpucall
