#include "server/program/image_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "server/program/filter_weights.h"

namespace gpucall {
namespace {

// Adds taps for one place after another; those outside are the outermost.
class Maker {
 public:
  Maker(int64_t count, int64_t before) : before_(before) { taps_.count = count; }

  void Add(int64_t place, double weight) {
    taps_.pairs.push_back(static_cast<double>(std::clamp<int64_t>(place, 0, before_ - 1)));
    taps_.pairs.push_back(weight);
  }
  Taps Take() { return std::move(taps_); }

 private:
  const int64_t before_;
  Taps taps_;
};

// OpenCV's, of a place `part` after the second of four.
std::array<double, 4> Cubic(double part) {
  constexpr double kA = -0.75;
  const double to_first = part + 1, to_third = 1 - part;
  std::array<double, 4> weights;
  weights[0] = ((kA * to_first - 5 * kA) * to_first + 8 * kA) * to_first - 4 * kA;
  weights[1] = ((kA + 2) * part - (kA + 3)) * part * part + 1;
  weights[2] = ((kA + 2) * to_third - (kA + 3)) * to_third * to_third + 1;
  weights[3] = 1 - weights[0] - weights[1] - weights[2];
  return weights;
}

void AddArea(Maker& maker, int64_t i, double scale, int64_t count) {
  const double from = static_cast<double>(i) * scale, to = from + scale;
  const auto first = static_cast<int64_t>(std::floor(from));
  for (int64_t k = first; k < first + count; ++k) {
    const double covered =
        std::min(to, static_cast<double>(k + 1)) - std::max(from, static_cast<double>(k));
    maker.Add(k, std::max(covered, 0.0) / scale);
  }
}

// Where a side grows: mostly one place, or a blend where a pixel lies across two.
void AddAreaBlend(Maker& maker, int64_t i, double scale, double growth) {
  const auto first = static_cast<int64_t>(std::floor(static_cast<double>(i) * scale));
  const double beyond = static_cast<double>(i + 1) - static_cast<double>(first + 1) * growth;
  const double share = beyond <= 0 ? 0 : beyond - std::floor(beyond);
  maker.Add(first, 1 - share);
  maker.Add(first + 1, share);
}

std::vector<double> Joined(Taps rows, const Taps& columns) {
  std::vector<double> all = std::move(rows.pairs);
  all.insert(all.end(), columns.pairs.begin(), columns.pairs.end());
  return all;
}

std::vector<double> SmoothTable(const ImageAttributes& attributes) {
  if (attributes.size == 0) {
    return *GaussianWeights("", attributes.sigma, attributes.truncate, 0,
                            kAxisName[attributes.axis]);
  }
  if (attributes.method == AdaptiveMethod::kGaussian) return WindowGaussian(attributes.size);
  return std::vector<double>(static_cast<size_t>(attributes.size), 1.0);
}

// Means, then deviations.
std::vector<double> NormaliseTable(const ImageAttributes& attributes, int64_t channels) {
  std::vector<double> table;
  for (const auto* list : {&attributes.mean, &attributes.deviation}) {
    for (int64_t c = 0; c < channels; ++c) {
      table.push_back(list->size() == 1 ? list->front() : (*list)[static_cast<size_t>(c)]);
    }
  }
  return table;
}

// As numpy.linspace and numpy.histogram, which makes edges of float32 elements float32.
std::vector<double> HistogramEdges(const ImageAttributes& attributes, DType dtype) {
  double low = attributes.has_range ? attributes.low : 0;
  double high = attributes.has_range ? attributes.high : 256;
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const double width = (high - low) / static_cast<double>(attributes.bins);
  std::vector<double> edges;
  for (int64_t i = 0; i <= attributes.bins; ++i) {
    edges.push_back(static_cast<double>(i) * width + low);
  }
  edges.back() = high;
  if (dtype == DType::kFloat32) {
    for (double& edge : edges) edge = static_cast<float>(edge);
  }
  return edges;
}

std::vector<double> ValueEdges() {
  ImageAttributes attributes;
  attributes.bins = 256;
  return HistogramEdges(attributes, DType::kUint8);
}

}  // namespace

std::vector<double> ImageTable(const ImageAttributes& attributes, const ImageStep& step,
                               DType dtype) {
  const ImageStep::Sizes &in = step.in, &out = step.out;
  const bool empty = in.rows == 0 || in.columns == 0;
  switch (attributes.kind) {
    case ImageKind::kCountValues:
      return ValueEdges();
    case ImageKind::kHistogram:
      return HistogramEdges(attributes, dtype);
    case ImageKind::kResize: {
      const bool shrinks = out.rows <= in.rows && out.columns <= in.columns;
      if (empty) return {};
      return Joined(ResizeTaps(attributes.interpolation, in.rows, out.rows, shrinks),
                    ResizeTaps(attributes.interpolation, in.columns, out.columns, shrinks));
    }
    case ImageKind::kPyramidDown:
      if (empty) return {};
      return Joined(PyramidDownTaps(in.rows), PyramidDownTaps(in.columns));
    case ImageKind::kPyramidUp:
      if (empty) return {};
      return Joined(PyramidUpTaps(in.rows), PyramidUpTaps(in.columns));
    case ImageKind::kNormalise:
      return NormaliseTable(attributes, in.channels);
    case ImageKind::kBilateral:
      return BilateralTable(step.option, attributes.sigma_space, attributes.sigma_colour,
                            dtype == DType::kUint8 ? 255 * in.channels + 1 : 0);
    case ImageKind::kSmooth:
      return SmoothTable(attributes);
    default:
      return {};
  }
}

int64_t ResizeTapCount(Interpolation interpolation, int64_t before, int64_t after, bool shrinks) {
  switch (interpolation) {
    case Interpolation::kNearest:
      return 1;
    case Interpolation::kBilinear:
      return 2;
    case Interpolation::kBicubic:
      return 4;
    case Interpolation::kArea:
      break;
  }
  return shrinks ? (before + after - 1) / after + 1 : 2;
}

Taps ResizeTaps(Interpolation interpolation, int64_t before, int64_t after, bool shrinks) {
  // Divided as OpenCV does, so that both round down to the same places.
  const double growth = static_cast<double>(after) / static_cast<double>(before);
  const double scale = 1 / growth;
  const int64_t count = ResizeTapCount(interpolation, before, after, shrinks);
  Maker maker(count, before);
  for (int64_t i = 0; i < after; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale - 0.5;
    const auto below = static_cast<int64_t>(std::floor(centre));
    const double part = centre - std::floor(centre);
    switch (interpolation) {
      case Interpolation::kNearest:
        maker.Add(static_cast<int64_t>(std::floor(static_cast<double>(i) * scale)), 1);
        break;
      case Interpolation::kBilinear:
        maker.Add(below, 1 - part);
        maker.Add(below + 1, part);
        break;
      case Interpolation::kBicubic:
        for (int64_t k = 0; k < 4; ++k) maker.Add(below - 1 + k, Cubic(part)[k]);
        break;
      case Interpolation::kArea:
        if (shrinks) AddArea(maker, i, scale, count);
        if (!shrinks) AddAreaBlend(maker, i, scale, growth);
        break;
    }
  }
  return maker.Take();
}

Taps PyramidDownTaps(int64_t before) {
  constexpr double kWeights[] = {1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0};
  const auto mirrored = [&](int64_t place) {
    const int64_t period = std::max<int64_t>(2 * before - 2, 1);
    const int64_t rest = (place % period + period) % period;
    return rest < before ? rest : period - rest;
  };
  Maker maker(5, before);
  for (int64_t i = 0; i < (before + 1) / 2; ++i) {
    for (int64_t k = 0; k < 5; ++k) maker.Add(mirrored(2 * i + k - 2), kWeights[k]);
  }
  return maker.Take();
}

// Mirrored before the first, the last repeated after it.
Taps PyramidUpTaps(int64_t before) {
  Maker maker(3, before);
  for (int64_t i = 0; i < before; ++i) {
    maker.Add(i == 0 ? 1 : i - 1, 1 / 8.0);
    maker.Add(i, 6 / 8.0);
    maker.Add(i + 1, 1 / 8.0);
    maker.Add(i, 0.5);
    maker.Add(i + 1, 0.5);
    maker.Add(i, 0);
  }
  return maker.Take();
}

std::vector<double> WindowGaussian(int64_t size) {
  if (size == 3) return {0.25, 0.5, 0.25};
  if (size == 5) return {0.0625, 0.25, 0.375, 0.25, 0.0625};
  if (size == 7) return {0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125};
  if (size == 9) {
    std::vector<double> weights = {4, 13, 30, 51, 60, 51, 30, 13, 4};
    for (double& weight : weights) weight /= 256;
    return weights;
  }
  const double sigma = 0.3 * (static_cast<double>(size - 1) * 0.5 - 1) + 0.8;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double distance = static_cast<double>(i) - static_cast<double>(size - 1) / 2;
    weights.push_back(std::exp(-distance * distance / (2 * sigma * sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> BilateralTable(int64_t radius, double sigma_space, double sigma_colour,
                                   int64_t differences) {
  std::vector<double> table;
  for (int64_t i = -radius; i <= radius; ++i) {
    for (int64_t j = -radius; j <= radius; ++j) {
      const auto squared = static_cast<double>(i * i + j * j);
      const bool inside = i * i + j * j <= radius * radius;
      table.push_back(inside ? std::exp(-squared / (2 * sigma_space * sigma_space)) : 0);
    }
  }
  for (int64_t k = 0; k < differences; ++k) {
    const auto difference = static_cast<double>(k);
    table.push_back(std::exp(-difference * difference / (2 * sigma_colour * sigma_colour)));
  }
  return table;
}

}  // namespace gpucall
