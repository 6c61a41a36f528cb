#include "server/program/filter_weights.h"

#include <cmath>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/program/filter.h"

namespace gpucall {
namespace {

constexpr int kMaxOrder = 2;

double Derivative(double x, double sigma, int order) {
  const double variance = sigma * sigma;
  if (order == 0) return 1;
  return order == 1 ? x / variance : (x * x / variance - 1) / variance;
}

}  // namespace

absl::StatusOr<std::vector<double>> GaussianWeights(absl::string_view name, double sigma,
                                                    double truncate, int order,
                                                    absl::string_view axis) {
  const std::string allowed =
      absl::StrCat("0 or more, with a kernel of at most ", kMaxWindowSide, " elements");
  if (!(sigma >= 0) || !std::isfinite(sigma)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": sigma of the ", axis, " is ", sigma, ", allowed is ", allowed));
  }
  if (order < 0 || order > kMaxOrder) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": order of the ", axis, " is ", order,
                                                   ", allowed is 0 to ", kMaxOrder));
  }
  const double radius = std::floor(truncate * sigma + 0.5);
  if (radius > (kMaxWindowSide - 1) / 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": sigma ", sigma, " with truncate ", truncate, " gives the ", axis,
                     " a kernel of ", 2 * radius + 1, " elements, allowed is ", allowed));
  }
  constexpr double kNoSmoothing = 1e-15;  // scipy.ndimage's
  if (sigma <= kNoSmoothing) return std::vector<double>{1};
  const auto r = static_cast<int64_t>(radius);
  std::vector<double> weights(static_cast<size_t>(2 * r + 1), 1.0);
  for (int64_t x = -r; x <= r && r > 0; ++x) {
    weights[static_cast<size_t>(x + r)] =
        std::exp(-0.5 * static_cast<double>(x * x) / (sigma * sigma));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (int64_t x = -r; x <= r; ++x) {
    double& weight = weights[static_cast<size_t>(x + r)];
    weight = weight / sum * Derivative(static_cast<double>(x), sigma, order);
  }
  return weights;
}

}  // namespace gpucall
