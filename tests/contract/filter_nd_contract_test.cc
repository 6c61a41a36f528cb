// Filters over any axes, of every dtype, against windows written out in double precision.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

using Window = std::vector<Shape>;  // offsets from the output's coordinates, of every dimension

constexpr const char* kModes[] = {"nearest", "reflect", "mirror", "wrap", "constant"};
constexpr DType kReal[] = {DType::kUint8,   DType::kUint16,   DType::kUint32,  DType::kUint64,
                           DType::kInt8,    DType::kInt16,    DType::kInt32,   DType::kInt64,
                           DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64};

// scipy.ndimage's meaning of the modes, step by step; -1 outside a constant border.
int64_t Inside(int64_t index, int64_t size, BorderMode mode) {
  while (index < 0 || index >= size) {
    const bool before = index < 0;
    if (mode == BorderMode::kConstant) return -1;
    if (mode == BorderMode::kNearest) index = before ? 0 : size - 1;
    if (mode == BorderMode::kReflect) index = before ? -1 - index : 2 * size - 1 - index;
    if (mode == BorderMode::kMirror) {
      index = size == 1 ? 0 : before ? -index : 2 * size - 2 - index;
    }
    if (mode == BorderMode::kWrap) index += before ? size : -size;
  }
  return index;
}

Shape CoordinatesOf(int64_t number, const Shape& shape) {
  Shape at(shape.size());
  for (size_t d = shape.size(); d-- > 0; number /= shape[d]) at[d] = number % shape[d];
  return at;
}

// The window's elements for output element `number`.
std::vector<double> ElementsOf(const Array& x, int64_t number, const Window& window,
                               const PerAxis<BorderMode>& modes, double cval) {
  const Shape& shape = x.type.shape;
  const Shape at = CoordinatesOf(number, shape);
  std::vector<double> elements;
  for (const Shape& offset : window) {
    int64_t place = 0;
    for (size_t d = 0; d < shape.size() && place >= 0; ++d) {
      const int64_t index = Inside(at[d] + offset[d], shape[d], modes[d]);
      place = index < 0 ? -1 : place * shape[d] + index;
    }
    elements.push_back(place < 0 ? cval : x.at(place));
  }
  return elements;
}

// Offsets of a dense window of a size and a number of elements before for each dimension.
Window Dense(const Shape& size, const Shape& before) {
  Window window;
  for (int64_t i = 0; i < ElementCount(size); ++i) {
    window.push_back(CoordinatesOf(i, size));
    for (size_t d = 0; d < size.size(); ++d) window.back()[d] -= before[d];
  }
  return window;
}

double SumOf(const std::vector<double>& elements, const std::vector<double>& weights) {
  double sum = 0;
  for (size_t i = 0; i < elements.size(); ++i) sum += elements[i] * weights[i];
  return sum;
}

// As filters cast: integers are cut off towards zero and saturate.
double CastTo(double value, DType dtype) {
  if (IsFloating(dtype)) return value;
  const int bits = static_cast<int>(8 * ElementSize(dtype));
  const bool is_signed = KindOf(dtype) == DTypeKind::kSigned;
  const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  return std::clamp(std::trunc(value), is_signed ? -end : 0.0, end - 1);
}

double Tolerance(DType dtype) {
  if (dtype == DType::kBfloat16) return 0x1p-8;
  if (dtype == DType::kFloat16) return 0x1p-11;
  return dtype == DType::kFloat32 ? 0x1p-23 : 1e-14;
}

void ExpectNear(double got, double wanted, double magnitude, DType dtype) {
  if (IsFloating(dtype)) {
    ASSERT_NEAR(got, wanted, Tolerance(dtype) * (magnitude + std::abs(wanted)));
  } else {
    ASSERT_EQ(got, CastTo(wanted, dtype));
  }
}

// Few, small numbers, so that sums of them are exact.
Array Small(DType dtype, const Shape& shape) {
  const bool is_unsigned = KindOf(dtype) == DTypeKind::kUnsigned;
  return UniformArray(dtype, shape, is_unsigned ? 0 : -60, 60, 5);
}

class NdFilterContract : public DeviceTest,
                         public testing::WithParamInterface<std::tuple<DType, int>> {
 protected:
  DType dtype() const { return std::get<0>(GetParam()); }
  BorderMode mode() const { return static_cast<BorderMode>(std::get<1>(GetParam())); }
};

std::string NameOf(const testing::TestParamInfo<NdFilterContract::ParamType>& info) {
  return absl::StrCat(DTypeName(std::get<0>(info.param)), "_", kModes[std::get<1>(info.param)]);
}
INSTANTIATE_TEST_SUITE_P(All, NdFilterContract,
                         testing::Combine(testing::ValuesIn(kReal), testing::Range(0, 5)), NameOf);

TEST_P(NdFilterContract, LinesAreWeightedSums) {
  const std::vector<std::vector<double>> all_weights = {
      {0.5, -2, 1, 3}, {1, 2, 1}, {-1, 0, 1}, {1.5, 0.25, -4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (const Shape& shape :
       {Shape{19}, {1}, {3, 17}, {300, 5}, {2, 3, 4}, {2, 1, 3, 270}, {0, 2}}) {
    const Array x = Small(dtype(), shape);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      for (const std::vector<double>& weights : all_weights) {
        SCOPED_TRACE(absl::StrCat(ShapeString(shape), " axis ", axis, " of ", weights.size()));
        const int64_t size = static_cast<int64_t>(weights.size());
        const Array got = Run(NdFilterAttributes{.kind = FilterKind::kCorrelate1d,
                                                 .modes = {mode()},
                                                 .cval = 7,
                                                 .origin = {-1},
                                                 .axis = static_cast<int64_t>(axis),
                                                 .weights = weights},
                              {x});
        ASSERT_EQ(got.type, x.type);
        Shape sizes(shape.size(), 1), before(shape.size(), 0);
        sizes[axis] = size;
        before[axis] = size / 2 - 1;
        const Window window = Dense(sizes, before);
        const PerAxis<BorderMode> modes(shape.size(), mode());
        for (int64_t i = 0; i < got.count(); ++i) {
          const double wanted = SumOf(ElementsOf(x, i, window, modes, 7), weights);
          ExpectNear(got.at(i), wanted, 60 * 12, dtype());
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(NdFilterContract, KernelsAreWeightedSums) {
  const Array kernel = ArrayOf<float>({2, 3}, {1, 0, -2, 0.5f, 3, -1});
  std::vector<double> weights, flipped;
  for (int64_t i = 0; i < kernel.count(); ++i) weights.push_back(kernel.at(i));
  flipped.assign(weights.rbegin(), weights.rend());
  for (const Shape& shape : {Shape{4, 5, 3}, {1, 2, 2}, {3, 2, 40, 2}, {2, 0, 3}}) {
    SCOPED_TRACE(ShapeString(shape));
    const Array x = Small(dtype(), shape);
    NdFilterAttributes filter = {.kind = FilterKind::kCorrelate,
                                 .axes = Axes{2, 0},
                                 .modes = {mode(), BorderMode::kWrap},
                                 .cval = 7,
                                 .origin = {0, 1}};
    const Array correlated = Run(filter, {x, kernel});
    filter.kind = FilterKind::kConvolve;
    const Array convolved = Run(filter, {x, kernel});
    PerAxis<BorderMode> modes(shape.size(), BorderMode::kNearest);
    modes[2] = mode();
    modes[0] = BorderMode::kWrap;
    Window window, mirrored;
    for (int64_t i = 0; i < 6; ++i) {
      window.emplace_back(shape.size(), 0);
      mirrored.emplace_back(shape.size(), 0);
      window.back()[2] = i / 3 - 1;
      window.back()[0] = i % 3 - 2;
      mirrored.back()[2] = i / 3;
      mirrored.back()[0] = i % 3;
    }
    for (int64_t i = 0; i < x.count(); ++i) {
      ExpectNear(correlated.at(i), SumOf(ElementsOf(x, i, window, modes, 7), weights), 500,
                 dtype());
      ExpectNear(convolved.at(i), SumOf(ElementsOf(x, i, mirrored, modes, 7), flipped), 500,
                 dtype());
      if (HasFatalFailure()) return;
    }
  }
}

// Elements of all sorts, NaN among them, which comes last.
TEST_P(NdFilterContract, RanksAreElementsInOrder) {
  const Footprint footprint = {{2, 3}, std::string("\1\0\1\1\1\0", 6)};
  for (const Shape& shape : {Shape{6, 7}, {3, 2, 5}, {1, 1, 1, 1}, {2, 3, 2, 9}, {0, 3}}) {
    const Array x = MixedArray(dtype(), shape, 11);
    for (const int64_t rank : {0, 1, 2, 3}) {
      SCOPED_TRACE(absl::StrCat(ShapeString(shape), " rank ", rank));
      const Array got = Run(NdFilterAttributes{.kind = FilterKind::kRank,
                                               .axes = Axes{0, 1},
                                               .modes = {mode()},
                                               .cval = 7,
                                               .footprint = footprint,
                                               .rank = rank},
                            {x});
      ASSERT_EQ(got.type, x.type);
      Window window;
      for (const int64_t i : {0, 2, 3, 4}) {
        window.emplace_back(shape.size(), 0);
        window.back()[0] = i / 3 - 1;
        window.back()[1] = i % 3 - 1;
      }
      const PerAxis<BorderMode> modes(shape.size(), mode());
      for (int64_t i = 0; i < got.count(); ++i) {
        std::vector<double> elements = ElementsOf(x, i, window, modes, 7);
        std::sort(elements.begin(), elements.end(),
                  [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
        const double wanted = elements[static_cast<size_t>(rank)];
        if (std::isnan(wanted)) {
          ASSERT_TRUE(std::isnan(got.at(i))) << i;
        } else {
          ASSERT_EQ(got.at(i), wanted) << i;
        }
      }
    }
  }
}

TEST_P(NdFilterContract, ExtremesGoAlongEachAxis) {
  for (const Shape& shape : {Shape{23}, {4, 300}, {3, 5, 4}, {2, 0}}) {
    const Array x = MixedArray(dtype(), shape, 3);
    Shape sizes(shape.size(), 4), before(shape.size(), 1);
    sizes[0] = 1;
    before[0] = 0;
    Axes axes;
    for (size_t d = 0; d < shape.size(); ++d) axes.push_back(static_cast<int64_t>(d));
    PerAxis<int64_t> origins(shape.size(), -1);
    origins[0] = 0;
    const Window window = Dense(sizes, before);
    const PerAxis<BorderMode> modes(shape.size(), mode());
    for (const FilterKind kind : {FilterKind::kMinimum, FilterKind::kMaximum}) {
      SCOPED_TRACE(ShapeString(shape));
      const Array got = Run(NdFilterAttributes{.kind = kind,
                                               .axes = axes,
                                               .modes = {mode()},
                                               .cval = 7,
                                               .size = {sizes.begin(), sizes.end()},
                                               .origin = origins},
                            {x});
      ASSERT_EQ(got.type, x.type);
      for (int64_t i = 0; i < got.count(); ++i) {
        const std::vector<double> elements = ElementsOf(x, i, window, modes, 7);
        const bool largest = kind == FilterKind::kMaximum;
        double wanted = std::nan("");
        const bool any_nan = std::any_of(elements.begin(), elements.end(),
                                         [](double element) { return std::isnan(element); });
        for (const double element : elements) {
          if (std::isnan(element) || (largest && any_nan)) continue;
          const bool first = std::isnan(wanted);
          if (first || (largest ? element > wanted : element < wanted)) wanted = element;
        }
        if (std::isnan(wanted)) {
          ASSERT_TRUE(std::isnan(got.at(i))) << i;
        } else {
          ASSERT_EQ(got.at(i), wanted) << i;
        }
      }
    }
  }
}

class NdFilters : public DeviceTest {};

// Passes are in float64: nothing is rounded between them that the window has not.
TEST_F(NdFilters, GaussiansOfVolumes) {
  const Array x = UniformArray(DType::kFloat64, {5, 7, 6}, -3, 3, 1);
  const Array got = Run(NdFilterAttributes{.kind = FilterKind::kGaussian,
                                           .axes = Axes{0, -1},
                                           .modes = {BorderMode::kMirror, BorderMode::kNearest},
                                           .sigma = {0.7, 1.2},
                                           .order = {0, 1}},
                        {x});
  ASSERT_EQ(got.type, x.type);
  const auto weights = [](double sigma, int order) {
    const int radius = static_cast<int>(4 * sigma + 0.5);
    std::vector<double> all;
    double sum = 0;
    for (int i = -radius; i <= radius; ++i) {
      all.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
      sum += all.back();
    }
    for (int i = -radius; i <= radius; ++i) {
      all[static_cast<size_t>(i + radius)] *= (order == 1 ? i / (sigma * sigma) : 1) / sum;
    }
    return all;
  };
  const std::vector<double> down = weights(0.7, 0), along = weights(1.2, 1);
  std::vector<double> product;
  for (const double a : down) {
    for (const double b : along) product.push_back(a * b);
  }
  const auto down_size = static_cast<int64_t>(down.size());
  const auto along_size = static_cast<int64_t>(along.size());
  const Window window = Dense({down_size, 1, along_size}, {down_size / 2, 0, along_size / 2});
  const PerAxis<BorderMode> modes = {BorderMode::kMirror, BorderMode::kNearest,
                                     BorderMode::kNearest};
  for (int64_t i = 0; i < got.count(); ++i) {
    ASSERT_NEAR(got.at(i), SumOf(ElementsOf(x, i, window, modes, 0), product), 1e-13);
  }
}

// 2^53 + 1 is none of float64's.
TEST_F(NdFilters, WideIntegersAreChosenExactly) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  const Array x = ArrayOf<int64_t>({5}, {odd, odd + 1, odd + 2, -odd, odd + 3});
  NdFilterAttributes filter = {.kind = FilterKind::kMedian, .axes = Axes{0}, .size = {3}};
  EXPECT_TRUE(SameElements(Run(filter, {x}),
                           ArrayOf<int64_t>({5}, {odd, odd + 1, odd + 1, odd + 2, odd + 3})));
  filter.kind = FilterKind::kMaximum;
  EXPECT_TRUE(SameElements(Run(filter, {x}),
                           ArrayOf<int64_t>({5}, {odd + 1, odd + 2, odd + 2, odd + 3, odd + 3})));
}

TEST_F(NdFilters, SumsPastTheRangeSaturate) {
  NdFilterAttributes filter = {.kind = FilterKind::kCorrelate1d, .axis = 0, .weights = {-1, 2, 2}};
  const Array bytes = ArrayOf<uint8_t>({4}, {0, 200, 1, 0});
  EXPECT_TRUE(SameElements(Run(filter, {bytes}), ArrayOf<uint8_t>({4}, {255, 255, 0, 0})));
  const int64_t most = std::numeric_limits<int64_t>::max();
  const Array wide = ArrayOf<int64_t>({3}, {most, most, -most});
  const Array got = Run(filter, {wide});
  EXPECT_EQ(got.get<int64_t>(0), most);
  EXPECT_EQ(got.get<int64_t>(2), std::numeric_limits<int64_t>::min());
}

TEST_F(NdFilters, BinaryMorphologyTakesAnyDType) {
  const Array x = ArrayOf<float>({3, 4}, {0, 2, 2, 0, 0.5f, -1, std::nanf(""), 1, 0, 1, 1, 0});
  const auto run = [&](FilterKind kind, int64_t iterations, double outside) {
    return Run(NdFilterAttributes{.kind = kind,
                                  .modes = {BorderMode::kConstant},
                                  .cval = outside,
                                  .iterations = iterations},
               {x});
  };
  const auto truth = [](const std::vector<bool>& all) { return ArrayOf<bool>({3, 4}, all); };
  EXPECT_TRUE(SameElements(run(FilterKind::kBinaryErosion, 1, 0),
                           truth({0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0})));
  EXPECT_TRUE(SameElements(run(FilterKind::kBinaryErosion, 1, 1),
                           truth({0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0})));
  EXPECT_TRUE(SameElements(run(FilterKind::kBinaryErosion, 2, 1),
                           truth({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
  EXPECT_TRUE(SameElements(run(FilterKind::kBinaryDilation, 1, 0),
                           truth({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})));
  EXPECT_TRUE(SameElements(run(FilterKind::kBinaryOpening, 1, 0),
                           truth({0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0})));
}

// No axes: only the dtype changes. Nothing to filter: the array as it is.
TEST_F(NdFilters, OfNoAxes) {
  const Array x = ArrayOf<float>({}, {2.75f});
  NdFilterAttributes filter = {.kind = FilterKind::kGaussian, .axes = Axes{}};
  EXPECT_TRUE(SameElements(Run(filter, {x}), x));
  filter.kind = FilterKind::kMedian;
  EXPECT_TRUE(SameElements(Run(filter, {x}), x));
  filter.output_dtype = DType::kInt16;
  EXPECT_TRUE(SameElements(Run(filter, {x}), ArrayOf<int16_t>({}, {2})));
}

// Calls of other shapes and kernels share a batch, and have the bits they have alone.
TEST_F(NdFilters, InBatches) {
  std::vector<Call> calls;
  for (const Shape& shape : {Shape{3, 4, 5}, {7, 2, 1}, {3, 4, 5}, {0, 2, 2}}) {
    ProgramBuilder builder(2);
    const NdFilterAttributes median = {
        .kind = FilterKind::kMedian, .axes = Axes{2, 1}, .size = {3, 2}};
    const NdFilterAttributes box = {.kind = FilterKind::kBox, .axes = Axes{0, 1, 2}, .size = {3}};
    const NdFilterAttributes dense = {.kind = FilterKind::kConvolve, .axes = Axes{1, 0}};
    const uint32_t middle = builder.Add(median, {0});
    const uint32_t mean = builder.Add(box, {middle});
    const uint32_t sum = builder.Add(dense, {mean, 1});
    const auto seed = static_cast<unsigned>(calls.size());
    calls.push_back({builder.Returning({middle, mean, sum}),
                     {UniformArray(DType::kInt16, shape, -900, 900, seed),
                      UniformArray(DType::kFloat64, {2, 3}, -1, 1, seed + 9)}});
  }
  const std::vector<Results> together = RunBatch(calls);
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(together[i].ok()) << together[i].status();
    const std::vector<Array> alone = Run(calls[i]);
    for (size_t k = 0; k < alone.size(); ++k) {
      EXPECT_TRUE(SameElements((*together[i])[k], alone[k])) << i << " " << k;
    }
  }
}

}  // namespace
}  // namespace gpucall::contract
