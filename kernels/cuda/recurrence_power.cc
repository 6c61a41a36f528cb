#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/cuda/recurrence.h"
#include "kernels/cuda/recurrence_form.h"

namespace gpucall::cuda {
namespace {

using Matrix = std::vector<long double>;  // row-major

// What one element, 0, does to a state.
Matrix StepMatrix(int sections, int order, const RecurrenceForm& form,
                  std::span<const double> coefficients) {
  const auto states = static_cast<size_t>(form.sections * form.order);
  Matrix step(states * states);
  for (size_t j = 0; j < states; ++j) {
    Matrix z(states + 1);
    z[j] = 1;
    long double x = 0;
    for (int s = 0; s < sections; ++s) {
      const double* const b = coefficients.data() + s * (order + 1);
      const double* const a = b + sections * (order + 1);
      long double* const own = z.data() + s * form.order;
      const long double y = b[0] * x + own[0];
      for (int k = 0; k < order; ++k) {
        own[k] = (k + 1 < order ? own[k + 1] : 0) + b[k + 1] * x - a[k + 1] * y;
      }
      x = y;
    }
    for (size_t i = 0; i < states; ++i) step[i * states + j] = z[i];
  }
  return step;
}

Matrix Squared(const Matrix& matrix, size_t size) {
  Matrix square(size * size);
  for (size_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < size; ++k) {
      for (size_t j = 0; j < size; ++j) {
        square[i * size + j] += matrix[i * size + k] * matrix[k * size + j];
      }
    }
  }
  return square;
}

}  // namespace

std::vector<double> RecurrencePower(int sections, int order, std::span<const double> coefficients) {
  if (order > kMaxFormOrder) return {};
  const RecurrenceForm form = FormOf(sections, order);
  Matrix power = StepMatrix(sections, order, form, coefficients);
  const auto states = static_cast<size_t>(form.sections * form.order);
  for (int length = 1; length < kSpan; length *= 2) power = Squared(power, states);
  // Written so that NaN grows, too.
  const bool shrinks =
      std::all_of(power.begin(), power.end(), [](long double p) { return std::abs(p) <= 1; });
  return shrinks ? std::vector<double>(power.begin(), power.end()) : std::vector<double>();
}

}  // namespace gpucall::cuda
