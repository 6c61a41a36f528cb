#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "kernels/cpu/filter.h"
#include "kernels/cpu/filter_box.h"
#include "kernels/cpu/loops/tables.h"
#include "kernels/cpu/padded_rows.h"
#include "kernels/cpu/row_ring.h"

namespace gpucall::cpu {
namespace {

template <class Real>
constexpr ElementType kTypeOf =
    std::is_same_v<Real, float> ? ElementType::kFloat32 : ElementType::kFloat64;

template <class Real>
WeightedSum<Real> SumLoop() {
  if constexpr (std::is_same_v<Real, float>) {
    return BestLevel().sums.sum_float32;
  } else {
    return BestLevel().sums.sum_float64;
  }
}

double SumOfMagnitudes(std::span<const double> weights) {
  double sum = 0;
  for (double weight : weights) sum += std::abs(weight);
  return sum;
}

// `magnitude`: sum of the weights' magnitudes.
bool NeedsFloat64(const Image& image, const Output& output, size_t weight_count, double magnitude) {
  constexpr size_t kMaxFloat32Weights = 256;
  constexpr double kExactInFloat32 = 1 << 24;
  return image.type == ElementType::kFloat64 || output.type == ElementType::kFloat64 ||
         weight_count > kMaxFloat32Weights ||
         (image.type == ElementType::kUint8 && !(255 * magnitude < kExactInFloat32));
}

bool AllEqual(std::span<const double> weights) {
  return std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end();
}

template <class Real>
PaddedRows MakePaddedRows(const Image& image, const Window& window) {
  return {image, window, FindConvertLoop(image.type, kTypeOf<Real>), sizeof(Real)};
}
template <class Real>
StripWriter MakeWriter(const Image& image, const Output& output) {
  return {image, output, FindConvertLoop(kTypeOf<Real>, output.type), sizeof(Real)};
}

template <class Real>
void RunSeparable(const Image& image, const Window& window, std::span<const double> row_weights,
                  std::span<const double> column_weights, const Output& output) {
  const WeightedSum<Real> sum = SumLoop<Real>();
  PaddedRows padded = MakePaddedRows<Real>(image, window);
  const StripWriter writer = MakeWriter<Real>(image, output);
  const int64_t width = StripColumns<Real>(window.rows, 0, image.channels);
  for (const Strip& strip : MakeStrips(image, width)) {
    padded.Select(strip);
    std::vector<Tap<Real>> down, along;
    for (uint32_t i = 0; i < row_weights.size(); ++i) {
      down.push_back({0, i, static_cast<Real>(row_weights[i])});
    }
    for (size_t j = 0; j < column_weights.size(); ++j) {
      along.push_back(
          {j * static_cast<size_t>(strip.channels), 0, static_cast<Real>(column_weights[j])});
    }
    const auto count = static_cast<size_t>(strip.count());
    const RowRing<Real> source(1, padded.element_count());
    const RowRing<Real> ring(window.rows, strip.count());
    const RowRing<Real> result(1, strip.count());
    for (int64_t row = 0; row < padded.row_count(); ++row) {
      padded.Read(row, source.row(0));
      sum(source.RowsFrom(0), along.data(), along.size(), ring.row(row), count);
      const int64_t y = row - (window.rows - 1);
      if (y < 0) continue;
      sum(ring.RowsFrom(y), down.data(), down.size(), result.row(0), count);
      writer.Write(strip, y, result.row(0));
    }
  }
}

template <class Real>
void RunDense(const Image& image, const Window& window, std::span<const double> weights,
              const Output& output) {
  const WeightedSum<Real> sum = SumLoop<Real>();
  PaddedRows padded = MakePaddedRows<Real>(image, window);
  const StripWriter writer = MakeWriter<Real>(image, output);
  const int64_t width = StripColumns<Real>(window.rows, window.columns - 1, image.channels);
  for (const Strip& strip : MakeStrips(image, width)) {
    padded.Select(strip);
    std::vector<Tap<Real>> taps;
    for (size_t e = 0; e < weights.size(); ++e) {
      if (weights[e] == 0) continue;
      const auto columns = static_cast<size_t>(window.columns);
      taps.push_back({e % columns * static_cast<size_t>(strip.channels),
                      static_cast<uint32_t>(e / columns), static_cast<Real>(weights[e])});
    }
    const RowRing<Real> ring(window.rows, padded.element_count());
    const RowRing<Real> result(1, strip.count());
    for (int64_t row = 0; row < padded.row_count(); ++row) {
      padded.Read(row, ring.row(row));
      const int64_t y = row - (window.rows - 1);
      if (y < 0) continue;
      sum(ring.RowsFrom(y), taps.data(), taps.size(), result.row(0),
          static_cast<size_t>(strip.count()));
      writer.Write(strip, y, result.row(0));
    }
  }
}

}  // namespace

void SeparableFilter(const Image& image, const Window& window, std::span<const double> row_weights,
                     std::span<const double> column_weights, const Output& output) {
  if (image.empty()) return;
  if (image.type == ElementType::kUint8 && AllEqual(row_weights) && AllEqual(column_weights)) {
    return BoxFilter(image, window, row_weights[0] * column_weights[0], output);
  }
  const double magnitude = SumOfMagnitudes(row_weights) * SumOfMagnitudes(column_weights);
  if (NeedsFloat64(image, output, row_weights.size() + column_weights.size(), magnitude)) {
    RunSeparable<double>(image, window, row_weights, column_weights, output);
  } else {
    RunSeparable<float>(image, window, row_weights, column_weights, output);
  }
}

void DenseFilter(const Image& image, const Window& window, std::span<const double> weights,
                 const Output& output) {
  if (image.empty()) return;
  if (NeedsFloat64(image, output, weights.size(), SumOfMagnitudes(weights))) {
    RunDense<double>(image, window, weights, output);
  } else {
    RunDense<float>(image, window, weights, output);
  }
}

}  // namespace gpucall::cpu
