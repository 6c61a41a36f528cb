// Filters of all kinds, borders, dtypes and shapes against sums written out in double precision.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

// scipy.ndimage's meaning of the modes, step by step; -1 outside a constant border.
int64_t Inside(int64_t index, int64_t size, BorderMode mode) {
  while (index < 0 || index >= size) {
    switch (mode) {
      case BorderMode::kNearest:
        index = std::clamp<int64_t>(index, 0, size - 1);
        break;
      case BorderMode::kReflect:
        index = index < 0 ? -1 - index : 2 * size - 1 - index;
        break;
      case BorderMode::kMirror:
        index = size == 1 ? 0 : index < 0 ? -index : 2 * size - 2 - index;
        break;
      case BorderMode::kWrap:
        index += index < 0 ? size : -size;
        break;
      case BorderMode::kConstant:
        return -1;
    }
  }
  return index;
}

std::vector<double> GaussianWeights(double sigma, double truncate, int order) {
  if (sigma == 0) return {1};
  const int radius = static_cast<int>(truncate * sigma + 0.5);
  std::vector<double> weights;
  double sum = 0;
  for (int x = -radius; x <= radius; ++x) {
    weights.push_back(std::exp(-0.5 * x * x / (sigma * sigma)));
    sum += weights.back();
  }
  for (int x = -radius; x <= radius; ++x) {
    const double scaled = x / (sigma * sigma);
    const double factors[] = {1, scaled, scaled * scaled - 1 / (sigma * sigma)};
    weights[static_cast<size_t>(x + radius)] *= factors[order] / sum;
  }
  return weights;
}

// The window's size, weights and first element relative to the output; a rank instead of weights
// where it is not -1.
struct Window {
  int64_t rows, columns;
  std::vector<double> weights;
  std::array<int64_t, 2> before;
  int64_t rank = -1;
};

Window Outer(const std::vector<double>& rows, const std::vector<double>& columns) {
  Window window = {
      static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns.size()), {}, {}, -1};
  for (double row : rows) {
    for (double column : columns) window.weights.push_back(row * column);
  }
  window.before = {window.rows / 2, window.columns / 2};
  return window;
}

Window WindowOf(const FilterAttributes& filter, const Array* kernel) {
  const auto ones = [](int64_t size) {
    return std::vector<double>(static_cast<size_t>(size), 1.0 / static_cast<double>(size));
  };
  const auto derivative = [&](const std::vector<double>& across) {
    return filter.axis == 0 ? Outer({-1, 0, 1}, across) : Outer(across, {-1, 0, 1});
  };
  const int64_t count = filter.size[0] * filter.size[1];
  Window window = Outer(ones(filter.size[0]), ones(filter.size[1]));
  switch (filter.kind) {
    case FilterKind::kGaussian:
      return Outer(GaussianWeights(filter.sigma[0], filter.truncate, filter.order[0]),
                   GaussianWeights(filter.sigma[1], filter.truncate, filter.order[1]));
    case FilterKind::kSobel:
      return derivative({1, 2, 1});
    case FilterKind::kPrewitt:
      return derivative({1, 1, 1});
    case FilterKind::kScharr:
      return derivative({3, 10, 3});
    case FilterKind::kLaplacian:
      return {3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}, {1, 1}};
    case FilterKind::kBox:
      break;
    case FilterKind::kMedian:
      window.rank = count / 2;
      break;
    case FilterKind::kMinimum:
    case FilterKind::kGreyErosion:
      window.rank = 0;
      break;
    case FilterKind::kMaximum:
    case FilterKind::kGreyDilation:
      window.rank = count - 1;
      break;
    case FilterKind::kRank:
      window.rank = filter.rank < 0 ? filter.rank + count : filter.rank;
      break;
    case FilterKind::kPercentile:
      window.rank = std::min(static_cast<int64_t>(count * filter.percentile / 100), count - 1);
      break;
    case FilterKind::kCorrelate:
    case FilterKind::kConvolve:
      window = {kernel->type.shape[0], kernel->type.shape[1], {}, {}};
      for (int64_t i = 0; i < kernel->count(); ++i) window.weights.push_back(kernel->at(i));
      window.before = {window.rows / 2, window.columns / 2};
      break;
    default:
      ADD_FAILURE() << "a composite filter has no window";
  }
  if (filter.kind == FilterKind::kConvolve ||
      filter.kind == FilterKind::kGreyDilation) {  // the flipped kernel, its even sides' middle too
    std::reverse(window.weights.begin(), window.weights.end());
    window.before = {(window.rows - 1) / 2 - filter.origin[0],
                     (window.columns - 1) / 2 - filter.origin[1]};
  } else {
    window.before[0] += filter.origin[0];
    window.before[1] += filter.origin[1];
  }
  return window;
}

struct Sum {
  double value, magnitude;
};

Sum ValueAt(const Array& image, const FilterAttributes& filter, const Window& window, int64_t y,
            int64_t x, int64_t channel) {
  const Shape& shape = image.type.shape;
  const int64_t channels = shape.size() == 3 ? shape[2] : 1;
  std::vector<double> elements;
  Sum sum = {0, 0};
  for (int64_t i = 0; i < window.rows; ++i) {
    for (int64_t j = 0; j < window.columns; ++j) {
      const int64_t row = Inside(y + i - window.before[0], shape[0], filter.mode);
      const int64_t column = Inside(x + j - window.before[1], shape[1], filter.mode);
      const double element = row < 0 || column < 0
                                 ? filter.cval
                                 : image.at((row * shape[1] + column) * channels + channel);
      elements.push_back(element);
      const double weight = window.weights[elements.size() - 1];
      sum.value += weight * element;
      sum.magnitude += std::abs(weight * element);
    }
  }
  if (window.rank < 0) return sum;
  std::sort(elements.begin(), elements.end());
  return {elements[static_cast<size_t>(window.rank)], 0};
}

std::vector<Sum> Values(const Array& image, const FilterAttributes& filter, const Array* kernel) {
  const Window window = WindowOf(filter, kernel);
  const int64_t channels = image.type.shape.size() == 3 ? image.type.shape[2] : 1;
  std::vector<Sum> values;
  for (int64_t i = 0; i < image.count(); ++i) {
    const int64_t column = i / channels % image.type.shape[1];
    const int64_t row = i / channels / image.type.shape[1];
    values.push_back(ValueAt(image, filter, window, row, column, i % channels));
  }
  return values;
}

Array ImageOf(const TensorType& type, const std::vector<double>& values) {
  if (type.dtype == DType::kUint8) {
    return ArrayOf(type.shape, std::vector<uint8_t>(values.begin(), values.end()));
  }
  return ArrayOf(type.shape, std::vector<float>(values.begin(), values.end()));
}

// What composite filters are made of; other filters as they are.
std::vector<Sum> Wanted(const Array& image, FilterAttributes filter, const Array* kernel) {
  const auto apply = [&](FilterKind kind, const Array& to, std::array<int, 2> order = {0, 0}) {
    FilterAttributes part = filter;
    part.kind = kind;
    part.order = order;
    return Values(to, part, kernel);
  };
  // Elements of an image, so exact in its dtype.
  const auto chosen = [&](FilterKind kind) {
    std::vector<double> values;
    for (const Sum& sum : apply(kind, image)) values.push_back(sum.value);
    return ImageOf(image.type, values);
  };
  const auto combine = [](std::vector<Sum> a, const std::vector<Sum>& b, auto function) {
    for (size_t i = 0; i < a.size(); ++i) {
      const double magnitude = std::abs(a[i].value) + std::abs(b[i].value);
      a[i] = {function(a[i].value, b[i].value), magnitude + a[i].magnitude + b[i].magnitude};
    }
    return a;
  };
  const auto subtract = [](double a, double b) { return a - b; };
  constexpr FilterKind kErosion = FilterKind::kGreyErosion, kDilation = FilterKind::kGreyDilation;
  std::vector<Sum> itself;
  for (int64_t i = 0; i < image.count(); ++i) itself.push_back({image.at(i), 0});
  switch (filter.kind) {
    case FilterKind::kGreyOpening:
      return apply(kDilation, chosen(kErosion));
    case FilterKind::kGreyClosing:
      return apply(kErosion, chosen(kDilation));
    case FilterKind::kMorphologicalGradient:
      return combine(apply(kDilation, image), apply(kErosion, image), subtract);
    case FilterKind::kWhiteTophat:
      return combine(itself, apply(kDilation, chosen(kErosion)), subtract);
    case FilterKind::kBlackTophat:
      return combine(apply(kErosion, chosen(kDilation)), itself, subtract);
    case FilterKind::kGaussianLaplace:
      return combine(apply(FilterKind::kGaussian, image, {2, 0}),
                     apply(FilterKind::kGaussian, image, {0, 2}),
                     [](double a, double b) { return a + b; });
    case FilterKind::kGaussianGradientMagnitude:
      return combine(apply(FilterKind::kGaussian, image, {1, 0}),
                     apply(FilterKind::kGaussian, image, {0, 1}),
                     [](double a, double b) { return std::hypot(a, b); });
    default:
      return Values(image, filter, kernel);
  }
}

void CheckFilter(DeviceTest& test, const FilterAttributes& filter, const Array& image,
                 const Array* kernel) {
  std::vector<Array> inputs = {image};
  if (kernel != nullptr) inputs.push_back(*kernel);
  const Array got = test.Run(filter, inputs);
  ASSERT_EQ(got.type.shape, image.type.shape);
  const std::vector<Sum> all_wanted = Wanted(image, filter, kernel);
  const int64_t channels = image.type.shape.size() == 3 ? image.type.shape[2] : 1;
  for (int64_t i = 0; i < got.count(); ++i) {
    const int64_t column = i / channels % image.type.shape[1];
    const int64_t row = i / channels / image.type.shape[1];
    const Sum& wanted = all_wanted[static_cast<size_t>(i)];
    const std::string where = absl::StrCat("at ", row, ", ", column, ", ", i % channels);
    if (got.type.dtype == DType::kUint8) {
      const double exact = std::clamp(wanted.value, 0.0, 255.0);
      const bool near_tie = std::abs(exact - std::floor(exact) - 0.5) < 1e-3;
      ASSERT_NEAR(got.at(i), std::nearbyint(exact), near_tie ? 1 : 0) << where;
    } else {
      ASSERT_NEAR(got.at(i), wanted.value, 1e-5 * wanted.magnitude) << where;
    }
  }
}

struct FilterCase {
  std::string name;
  FilterAttributes attributes;
  Shape kernel = {};
};

std::vector<FilterCase> Kinds() {
  return {
      {"gaussian", {.kind = FilterKind::kGaussian, .sigma = {1.2, 0.7}}},
      {"gaussian_rows", {.kind = FilterKind::kGaussian, .sigma = {6, 0}, .truncate = 3}},
      {"box", {.kind = FilterKind::kBox, .size = {3, 5}}},
      {"box_even", {.kind = FilterKind::kBox, .size = {4, 2}, .origin = {1, -1}}},
      {"box_huge", {.kind = FilterKind::kBox, .size = {40, 61}}},
      {"sobel_rows", {.kind = FilterKind::kSobel, .axis = 0}},
      {"sobel_columns", {.kind = FilterKind::kSobel, .axis = 1}},
      {"laplacian", {.kind = FilterKind::kLaplacian}},
      {"median", {.kind = FilterKind::kMedian, .size = {3, 3}}},
      {"median_5", {.kind = FilterKind::kMedian, .size = {5, 5}}},
      {"median_even", {.kind = FilterKind::kMedian, .size = {4, 2}, .origin = {-2, 0}}},
      {"median_two", {.kind = FilterKind::kMedian, .size = {1, 2}}},
      {"median_one", {.kind = FilterKind::kMedian, .size = {1, 1}}},
      {"median_wide", {.kind = FilterKind::kMedian, .size = {6, 9}}},
      {"median_huge", {.kind = FilterKind::kMedian, .size = {21, 33}}},
      {"gaussian_order_1", {.kind = FilterKind::kGaussian, .sigma = {1.1, 0.8}, .order = {1, 0}}},
      {"gaussian_order_2", {.kind = FilterKind::kGaussian, .sigma = {0.9, 1.5}, .order = {1, 2}}},
      {"prewitt", {.kind = FilterKind::kPrewitt, .axis = 0}},
      {"scharr", {.kind = FilterKind::kScharr, .axis = 1}},
      {"minimum", {.kind = FilterKind::kMinimum, .size = {3, 3}}},
      {"minimum_even", {.kind = FilterKind::kMinimum, .size = {4, 2}, .origin = {1, -1}}},
      {"maximum_wide", {.kind = FilterKind::kMaximum, .size = {9, 17}}},
      {"maximum_huge", {.kind = FilterKind::kMaximum, .size = {40, 61}, .origin = {3, -7}}},
      {"maximum_row", {.kind = FilterKind::kMaximum, .size = {1, 7}}},
      {"rank", {.kind = FilterKind::kRank, .size = {3, 4}, .rank = 2}},
      {"rank_last_but_one", {.kind = FilterKind::kRank, .size = {5, 5}, .rank = -2}},
      {"percentile", {.kind = FilterKind::kPercentile, .size = {9, 8}, .percentile = 30}},
      {"percentile_all", {.kind = FilterKind::kPercentile, .size = {2, 3}, .percentile = 100}},
      {"grey_erosion", {.kind = FilterKind::kGreyErosion, .size = {5, 4}, .origin = {0, 1}}},
      {"grey_dilation", {.kind = FilterKind::kGreyDilation, .size = {5, 4}, .origin = {0, 1}}},
      {"correlate", {.kind = FilterKind::kCorrelate, .origin = {1, 0}}, {3, 4}},
      {"convolve", {.kind = FilterKind::kConvolve, .origin = {0, -1}}, {4, 3}},
      {"convolve_row", {.kind = FilterKind::kConvolve}, {1, 17}},
      {"correlate_huge", {.kind = FilterKind::kCorrelate}, {20, 15}},
  };
}

constexpr const char* kModes[] = {"nearest", "reflect", "mirror", "wrap", "constant"};

class FilterContract
    : public DeviceTest,
      public testing::WithParamInterface<std::tuple<FilterCase, int, DType, DType>> {};

TEST_P(FilterContract, EqualsSums) {
  auto [test, mode, image_dtype, output_dtype] = GetParam();
  FilterAttributes attributes = test.attributes;
  attributes.mode = static_cast<BorderMode>(mode);
  attributes.cval = 7;
  attributes.output_dtype = output_dtype;
  for (const Shape& shape : {Shape{37, 45},
                             {1, 1},
                             {1, 19, 2},
                             {23, 1},
                             {2, 3, 1},
                             {19, 23, 3},
                             {0, 5},
                             {5, 0, 3},
                             {3, 4, 0},
                             {4, 3, 70}}) {
    SCOPED_TRACE(ShapeString(shape));
    const Array image = UniformArray(image_dtype, shape, 0, 255.9, 3);
    const Array kernel = UniformArray(DType::kFloat32, test.kernel, -1, 1.5, 4);
    CheckFilter(*this, attributes, image, test.kernel.empty() ? nullptr : &kernel);
    if (HasFatalFailure()) return;
  }
}

class CompositeFilterContract
    : public DeviceTest,
      public testing::WithParamInterface<std::tuple<FilterCase, int, DType>> {};

TEST_P(CompositeFilterContract, EqualsItsParts) {
  auto [test, mode, dtype] = GetParam();
  FilterAttributes attributes = test.attributes;
  attributes.mode = static_cast<BorderMode>(mode);
  attributes.cval = 7;
  for (const Shape& shape : {Shape{23, 31}, {1, 1}, {9, 11, 3}, {0, 5}}) {
    SCOPED_TRACE(ShapeString(shape));
    const Array image = UniformArray(dtype, shape, 0, 255.9, 3);
    CheckFilter(*this, attributes, image, nullptr);
    if (HasFatalFailure()) return;
  }
}

std::vector<FilterCase> Composites() {
  std::vector<FilterCase> cases;
  for (const auto& [name, kind] : {std::pair("opening", FilterKind::kGreyOpening),
                                   std::pair("closing", FilterKind::kGreyClosing),
                                   std::pair("gradient", FilterKind::kMorphologicalGradient),
                                   std::pair("white_tophat", FilterKind::kWhiteTophat),
                                   std::pair("black_tophat", FilterKind::kBlackTophat)}) {
    cases.push_back({name, {.kind = kind, .size = {3, 5}}});
    cases.push_back(
        {absl::StrCat(name, "_even"), {.kind = kind, .size = {4, 2}, .origin = {1, 0}}});
  }
  for (const auto& [name, kind] :
       {std::pair("laplace", FilterKind::kGaussianLaplace),
        std::pair("gradient_magnitude", FilterKind::kGaussianGradientMagnitude)}) {
    cases.push_back({absl::StrCat("gaussian_", name), {.kind = kind, .sigma = {1.3, 0.8}}});
  }
  return cases;
}
std::string CompositeName(const testing::TestParamInfo<CompositeFilterContract::ParamType>& info) {
  const auto& [test, mode, dtype] = info.param;
  return absl::StrCat(test.name, "_", kModes[mode], "_", DTypeName(dtype));
}
INSTANTIATE_TEST_SUITE_P(All, CompositeFilterContract,
                         testing::Combine(testing::ValuesIn(Composites()), testing::Range(0, 5),
                                          testing::Values(DType::kUint8, DType::kFloat32)),
                         CompositeName);

std::string CaseName(const testing::TestParamInfo<FilterContract::ParamType>& info) {
  const auto& [test, mode, image, output] = info.param;
  return absl::StrCat(test.name, "_", kModes[mode], "_", DTypeName(image), "_to_",
                      DTypeName(output));
}
INSTANTIATE_TEST_SUITE_P(All, FilterContract,
                         testing::Combine(testing::ValuesIn(Kinds()), testing::Range(0, 5),
                                          testing::Values(DType::kUint8, DType::kFloat32),
                                          testing::Values(DType::kUint8, DType::kFloat32)),
                         CaseName);

TEST_F(DeviceTest, FiltersImagesWiderThanAnyTile) {
  const Array image = UniformArray(DType::kUint8, {70, 3001}, 0, 255.9, 1);
  for (FilterKind kind : {FilterKind::kGaussian, FilterKind::kMedian, FilterKind::kLaplacian}) {
    CheckFilter(*this, {.kind = kind, .sigma = {1, 1}, .size = {3, 3}}, image, nullptr);
  }
  const Array tall = UniformArray(DType::kFloat32, {3001, 5, 3}, 0, 1, 1);
  CheckFilter(*this, {.kind = FilterKind::kGaussian, .sigma = {3, 1}}, tall, nullptr);
}

}  // namespace
}  // namespace gpucall::contract
