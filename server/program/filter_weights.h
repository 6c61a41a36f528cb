// Weights of separable filters.
#ifndef GPUCALL_SERVER_PROGRAM_FILTER_WEIGHTS_H_
#define GPUCALL_SERVER_PROGRAM_FILTER_WEIGHTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gpucall {

inline constexpr absl::string_view kAxisName[] = {"rows", "columns"};

// Weights of a Gaussian's derivative of the given order along an axis, for a correlation:
// exp(-x^2 / (2 sigma^2)) for |x| <= radius, normalised, times 1, x / sigma^2 or
// (x^2 - sigma^2) / sigma^4. Radius int(truncate * sigma + 0.5), as scipy.ndimage; {1} where sigma
// is 0. INVALID_ARGUMENT (naming the filter and `axis`): sigma, order, or the kernel's size.
absl::StatusOr<std::vector<double>> GaussianWeights(absl::string_view name, double sigma,
                                                    double truncate, int order,
                                                    absl::string_view axis);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_FILTER_WEIGHTS_H_
