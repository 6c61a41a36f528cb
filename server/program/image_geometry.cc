// Operations on images whose pixels are made of those around, or lie elsewhere.
#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status_macros.h"
#include "server/program/filter_weights.h"
#include "server/program/image_lowerer.h"
#include "server/program/image_tables.h"

namespace gpucall {

void ImageLowerer::SetSides(int64_t rows, int64_t columns) {
  step().out.rows = rows;
  step().out.columns = columns;
  const size_t first = shape().size() == 2 ? 0 : shape().size() - 3;
  shape()[first] = rows;
  shape()[first + 1] = columns;
}

absl::Status ImageLowerer::Smooth() {
  step().form = Form::kSmooth;
  step().option = of().axis;
  step().mode = BorderMode::kNearest;
  if (of().size > 0) {
    step().numbers[0] = static_cast<double>(of().size);
    return absl::OkStatus();
  }
  GPUCALL_RETURN_IF_ERROR(CheckFinite("amount", of().amount));
  if (!(of().truncate >= 0) || !std::isfinite(of().truncate)) {
    return Invalid("truncate is ", of().truncate, ", allowed is 0 or more");
  }
  GPUCALL_ASSIGN_OR_RETURN(
      const std::vector<double> weights,
      GaussianWeights(name_, of().sigma, of().truncate, 0, kAxisName[of().axis]));
  step().mode = BorderMode::kReflect;
  step().numbers[0] = static_cast<double>(weights.size());
  return absl::OkStatus();
}

absl::Status ImageLowerer::CheckSides(int64_t least) const {
  for (const auto& [what, side] : {std::pair("rows", of().rows), {"columns", of().columns}}) {
    if (side < least || side > kMaxImageSide) {
      return Invalid(what, " is ", side, ", allowed is ", least, " to ", kMaxImageSide);
    }
  }
  const ImageStep::Sizes& in = result_.step.in;
  if (of().rows * of().columns == 0 || (in.rows > 0 && in.columns > 0)) return absl::OkStatus();
  return Invalid("image of shape ", ShapeString(image_.shape), " has no pixels, results of ",
                 of().rows, " x ", of().columns, " need at least one");
}

absl::Status ImageLowerer::Resize() {
  GPUCALL_RETURN_IF_ERROR(CheckSides(1));
  step().form = Form::kResample;
  const ImageStep::Sizes& in = step().in;
  const bool shrinks = of().rows <= in.rows && of().columns <= in.columns;
  step().numbers = {
      static_cast<double>(ResizeTapCount(of().interpolation, in.rows, of().rows, shrinks)),
      static_cast<double>(ResizeTapCount(of().interpolation, in.columns, of().columns, shrinks))};
  SetSides(of().rows, of().columns);
  return absl::OkStatus();
}

absl::Status ImageLowerer::Pyramid(int64_t rows, int64_t columns, double taps) {
  step().form = Form::kResample;
  step().option = 1;
  step().numbers = {taps, taps};
  SetSides(rows, columns);
  return absl::OkStatus();
}

absl::Status ImageLowerer::WarpAffine() {
  constexpr double kMost = 1e9;  // so that coordinates stay exact integers
  GPUCALL_RETURN_IF_ERROR(CheckSides(0));
  if (of().matrix.size() != 6) {
    return Invalid("matrix has ", of().matrix.size(), " elements, allowed are 6 (2 rows of 3)");
  }
  for (const double element : of().matrix) {
    if (!(std::abs(element) <= kMost)) {
      return Invalid("matrix has ", element, ", allowed is ", -kMost, " to ", kMost);
    }
  }
  if (of().interpolation > Interpolation::kBilinear) {
    return Invalid("interpolation is none of those allowed: nearest, bilinear");
  }
  GPUCALL_RETURN_IF_ERROR(SetBorder(6));
  step().form = Form::kWarp;
  step().option = of().interpolation == Interpolation::kBilinear ? 1 : 0;
  std::copy(of().matrix.begin(), of().matrix.end(), step().numbers.begin());
  SetSides(of().rows, of().columns);
  return absl::OkStatus();
}

absl::Status ImageLowerer::SetBorder(size_t place) {
  step().mode = of().mode;
  step().numbers[place] = of().cval;
  const bool floats = image_.dtype == DType::kFloat32;
  if (of().mode != BorderMode::kConstant || floats ||
      AsElement(image_.dtype, of().cval) == of().cval) {
    return absl::OkStatus();
  }
  return Invalid("cval is ", of().cval, ", which ", DTypeName(image_.dtype), " does not hold");
}

absl::Status ImageLowerer::Bilateral() {
  GPUCALL_RETURN_IF_ERROR(CheckChannels({1, 3}));
  GPUCALL_RETURN_IF_ERROR(CheckPositive("sigma_colour", of().sigma_colour));
  GPUCALL_RETURN_IF_ERROR(CheckPositive("sigma_space", of().sigma_space));
  if (of().size < 0 || of().size > kMaxBilateralDiameter) {
    return Invalid("diameter is ", of().size, ", allowed is 0 to ", kMaxBilateralDiameter);
  }
  const double radius =
      of().size > 0 ? static_cast<double>(of().size / 2) : std::nearbyint(1.5 * of().sigma_space);
  if (radius > kMaxBilateralDiameter / 2) {
    return Invalid("sigma_space is ", of().sigma_space, ", which gives a diameter of ",
                   2 * radius + 1, ", allowed is ", kMaxBilateralDiameter);
  }
  GPUCALL_RETURN_IF_ERROR(SetBorder(1));
  step().form = Form::kBilateral;
  step().option = std::max(static_cast<int>(radius), 1);
  step().numbers[0] = -0.5 / (of().sigma_colour * of().sigma_colour);
  return absl::OkStatus();
}

}  // namespace gpucall
