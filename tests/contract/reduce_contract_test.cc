// Operations along axes against loops in long double, and alone against in a batch.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/program/axes.h"
#include "server/program/catalogue.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

using Op = ReduceOp;
constexpr Op kOps[] = {
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) Op::k##Function,
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
};
constexpr DType kDTypes[] = {DType::kBool,   DType::kUint8,   DType::kUint16,   DType::kUint32,
                             DType::kUint64, DType::kInt8,    DType::kInt16,    DType::kInt32,
                             DType::kInt64,  DType::kFloat16, DType::kBfloat16, DType::kFloat32,
                             DType::kFloat64};

// Between 1 and the next larger number.
double EpsilonOf(DType dtype) {
  if (dtype == DType::kFloat16) return std::ldexp(1, -10);
  if (dtype == DType::kBfloat16) return std::ldexp(1, -7);
  return dtype == DType::kFloat32 ? 1.2e-7 : 2.3e-16;
}

// The elements of each line by index, in the order of the lines.
std::vector<std::vector<int64_t>> IndicesOf(const Array& x, const std::optional<Axes>& axes) {
  const Shape& shape = x.type.shape;
  absl::InlinedVector<bool, kMaxRank> along(shape.size(), true);
  if (axes.has_value()) along = *CheckedAxes("test", *axes, shape.size());
  int64_t line_count = 1;
  for (size_t d = 0; d < shape.size(); ++d) line_count *= along[d] ? 1 : shape[d];
  std::vector<std::vector<int64_t>> lines(static_cast<size_t>(line_count));
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t rest = i, line = 0, step = 1;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      if (along[d]) continue;
      line += rest % shape[d] * step;
      step *= shape[d];
    }
    lines[static_cast<size_t>(line)].push_back(i);
  }
  return lines;
}

std::vector<std::vector<double>> LinesOf(const Array& x, const std::optional<Axes>& axes) {
  std::vector<std::vector<double>> lines;
  for (const auto& indices : IndicesOf(x, axes)) {
    lines.emplace_back();
    for (const int64_t index : indices) lines.back().push_back(x.at(index));
  }
  return lines;
}

// Where NaN, or else the largest of sign * x is first.
size_t Best(const std::vector<double>& line, double sign) {
  size_t best = 0;
  for (size_t i = 1; i < line.size(); ++i) {
    if (std::isnan(line[best])) break;
    if (std::isnan(line[i]) || sign * line[i] > sign * line[best]) best = i;
  }
  return best;
}

double Wanted(const ReduceAttributes& reduce, const std::vector<double>& line) {
  const auto count = static_cast<long double>(line.size());
  long double sum = 0, product = 1, squares = 0, powers = 0;
  double nonzero = 0;
  for (const double x : line) {
    sum += x;
    product *= x;
    powers += std::pow(std::abs(x), reduce.parameter);
    nonzero += x != 0;
  }
  for (const double x : line) squares += (x - sum / count) * (x - sum / count);
  const long double variance = squares / std::max(count - reduce.parameter, 0.0L);
  switch (reduce.op) {
    case Op::kSum:
      return static_cast<double>(sum);
    case Op::kProd:
      return static_cast<double>(product);
    case Op::kMean:
      return static_cast<double>(sum / count);
    case Op::kVar:
      return static_cast<double>(variance);
    case Op::kStd:
      return static_cast<double>(std::sqrt(variance));
    case Op::kMin:
      return line[Best(line, -1)];
    case Op::kMax:
      return line[Best(line, 1)];
    case Op::kArgMin:
      return static_cast<double>(Best(line, -1));
    case Op::kArgMax:
      return static_cast<double>(Best(line, 1));
    case Op::kAny:
      return nonzero > 0;
    case Op::kAll:
      return nonzero == static_cast<double>(count);
    case Op::kCountNonzero:
      return nonzero;
    case Op::kNorm:
      return static_cast<double>(std::pow(powers, 1 / static_cast<long double>(reduce.parameter)));
    default:
      break;
  }
  return 0;
}

bool IsExact(Op op) {
  return op == Op::kMin || op == Op::kMax || op == Op::kArgMin || op == Op::kArgMax ||
         op == Op::kAny || op == Op::kAll || op == Op::kCountNonzero;
}

void ExpectResults(const ReduceAttributes& reduce, const Array& x, const Array& got) {
  const auto lines = LinesOf(x, reduce.axes);
  ASSERT_EQ(static_cast<size_t>(got.count()), lines.size());
  const double eps = EpsilonOf(got.type.dtype);
  for (size_t i = 0; i < lines.size(); ++i) {
    double wanted = Wanted(reduce, lines[i]);
    if (got.type.dtype == DType::kFloat16 && std::abs(wanted) > 65520) wanted *= INFINITY;
    const double is = got.at(static_cast<int64_t>(i));
    if ((std::isnan(wanted) && std::isnan(is)) || wanted == is) continue;
    double tolerance = 0;
    if (!IsExact(reduce.op) && IsFloating(got.type.dtype)) {
      double magnitude = std::abs(wanted);  // sums cancel
      for (const double e : lines[i]) magnitude += reduce.op == Op::kSum ? std::abs(e) * 1e-3 : 0;
      tolerance = 8 * eps * magnitude + 1e-300;
      if (reduce.op == Op::kMean) tolerance += eps;
      // What cancels is differences from the first element.
      const auto [low, high] = std::minmax_element(lines[i].begin(), lines[i].end());
      const double spread = lines[i].empty() ? 0 : *high - *low;
      if (reduce.op == Op::kVar) tolerance += eps * spread * spread;
      if (reduce.op == Op::kStd) tolerance += eps * spread;
    }
    ASSERT_NEAR(is, wanted, tolerance) << "line " << i;
  }
}

std::string NameOf(const Shape& shape) {
  return shape.empty() ? "scalar" : absl::StrJoin(shape, "x");
}

struct Case {
  Shape shape;
  std::optional<Axes> axes;
};
class ReduceContract : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(ReduceContract, EqualsLoops) {
  const auto& [shape, axes] = GetParam();
  for (const DType dtype : kDTypes) {
    const Array x =
        UniformArray(dtype, shape, KindOf(dtype) == DTypeKind::kSigned ? -9 : 0.2, 2.9, 1);
    for (const Op op : kOps) {
      SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " op ", static_cast<int>(op)));
      if (GivesElements(op)) continue;
      const bool finds = op == Op::kArgMin || op == Op::kArgMax;
      if (finds && axes.has_value() && axes->size() != 1) continue;
      // Long products leave the range of any type.
      if (op == Op::kProd && x.count() > 100) continue;
      const ReduceAttributes reduce = {
          .op = op, .axes = axes, .parameter = op == Op::kNorm ? 2.0 : 0.0};
      ExpectResults(reduce, x, Run(reduce, {x}));
    }
  }
}

// What becomes of each element of a line.
std::vector<double> WantedElements(const ReduceAttributes& reduce,
                                   const std::vector<double>& line) {
  long double largest = -INFINITY, sum = 0, total = 0, squares = 0;
  for (const double x : line) largest = std::max<long double>(largest, x);
  for (const double x : line) {
    total += x;
    sum += std::exp(x - largest);
  }
  const auto count = static_cast<long double>(line.size());
  for (const double x : line) squares += (x - total / count) * (x - total / count);
  std::vector<double> wanted;
  for (const double x : line) {
    long double y = (x - total / count) / std::sqrt(squares / (count - reduce.parameter));
    if (reduce.op == Op::kSoftmax) y = std::exp(x - largest) / sum;
    if (reduce.op == Op::kLogSoftmax) y = x - largest - std::log(sum);
    if (reduce.op == Op::kLayerNorm) {
      y = (x - total / count) / std::sqrt(squares / count + reduce.parameter);
    }
    wanted.push_back(static_cast<double>(y));
  }
  return wanted;
}

TEST_P(ReduceContract, ElementsEqualLoops) {
  const auto& [shape, axes] = GetParam();
  for (const DType dtype : {DType::kUint8, DType::kInt32, DType::kInt64, DType::kFloat16,
                            DType::kFloat32, DType::kFloat64}) {
    const Array x = UniformArray(dtype, shape, 0, 9, 3);
    for (const Op op : {Op::kSoftmax, Op::kLogSoftmax, Op::kLayerNorm, Op::kStandardise}) {
      SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " op ", static_cast<int>(op)));
      const ReduceAttributes reduce = {
          .op = op, .axes = axes, .parameter = op == Op::kLayerNorm ? 0.01 : 0};
      const Array got = Run(reduce, {x});
      ASSERT_EQ(got.type.shape, shape);
      const double eps = EpsilonOf(got.type.dtype);
      for (const auto& indices : IndicesOf(x, axes)) {
        std::vector<double> line;
        for (const int64_t index : indices) line.push_back(x.at(index));
        const std::vector<double> wanted = WantedElements(reduce, line);
        const auto [low, high] = std::minmax_element(line.begin(), line.end());
        if (op == Op::kStandardise && *low == *high) continue;  // 0 / 0
        for (size_t i = 0; i < line.size(); ++i) {
          double tolerance = 32 * eps * (std::abs(wanted[i]) + (op == Op::kSoftmax ? 0 : 1));
          // Half the distance of subnormal numbers.
          if (got.type.dtype == DType::kFloat16) tolerance += std::ldexp(1, -25);
          ASSERT_NEAR(got.at(indices[i]), wanted[i], tolerance) << "element " << indices[i];
        }
      }
    }
  }
}

TEST_F(DeviceTest, SoftmaxOfInfinities) {
  const float infinity = INFINITY;
  const Array x =
      ArrayOf<float>({4, 2}, {-infinity, 0, -infinity, -infinity, infinity, 0, 3e38f, -3e38f});
  const Array got = Run(ReduceAttributes{.op = Op::kSoftmax, .axes = Axes{1}}, {x});
  EXPECT_EQ(got.at(0), 0);
  EXPECT_EQ(got.at(1), 1);
  for (const int64_t i : {2, 3, 4, 5}) EXPECT_TRUE(std::isnan(got.at(i))) << i;
  EXPECT_EQ(got.at(6), 1);
  EXPECT_EQ(got.at(7), 0);
}

const Case kCases[] = {
    {{}, std::nullopt},
    {{}, Axes{}},
    {{1}, Axes{0}},
    {{5}, Axes{-1}},
    {{77}, std::nullopt},
    {{1, 1, 1}, Axes{0, 2}},
    {{33, 70}, Axes{}},
    {{3, 100003}, std::nullopt},  // several segments
    {{3, 100003}, Axes{1}},       // misaligned rows
    {{300, 3}, Axes{1}},
    {{300, 3}, Axes{0}},
    {{5000, 33}, Axes{0}},  // columns that are no whole groups
    {{3001, 64}, Axes{0}},
    {{60, 1500}, Axes{1}},
    {{20, 3000}, Axes{1}},
    {{70, 50, 3}, Axes{0, 1}},   // an image's channels
    {{40, 7, 600}, Axes{0, 2}},  // long runs
    {{40, 7, 60}, Axes{0, 2}},   // short runs
    {{6, 7, 8}, Axes{1}},
    {{100, 5}, Axes{1}},        // lines packed one behind the other
    {{70, 64}, Axes{1}},        // lines of a few threads
    {{30, 1001}, Axes{1}},      // lines that a warp holds, misaligned
    {{2, 9000}, Axes{1}},       // lines that a block holds
    {{2, 17000}, Axes{1}},      // lines that nothing holds
    {{4, 90, 71}, Axes{0, 2}},  // several runs a segment
    {{30, 41, 2}, Axes{1}},     // images that are not aligned
    {{30, 40, 2}, Axes{1}},
    {{3, 20, 300}, Axes{1}},  // columns that a block holds
    {{510, 40}, Axes{0}},
    {{100, 131}, Axes{0}},
    {{2, 3, 4, 5, 2, 3, 2, 3}, Axes{1, 3, 5, 7}},
    {{2, 3, 4, 5, 2, 3, 2, 3}, Axes{0, 2, -4, 6}},
};
INSTANTIATE_TEST_SUITE_P(All, ReduceContract, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = absl::StrCat(NameOf(info.param.shape), "_along_");
  if (!info.param.axes.has_value()) return name + "all";
  for (const int64_t axis : *info.param.axes)
    absl::StrAppend(&name, "_", axis < 0 ? 10 - axis : axis);
  return name;
});

TEST_F(DeviceTest, ReductionsOfSpecialNumbers) {
  const Array x = MixedArray(DType::kFloat32, {9, 1001}, 5);
  for (const Op op : {Op::kMin, Op::kMax, Op::kArgMin, Op::kArgMax, Op::kAny, Op::kCountNonzero}) {
    const ReduceAttributes reduce = {.op = op, .axes = Axes{0}};
    ExpectResults(reduce, x, Run(reduce, {x}));
  }
  const float nan = std::nanf(""), infinity = INFINITY;
  const Array odd = ArrayOf<float>({3, 2}, {infinity, nan, -infinity, 1, 1, infinity});
  const Array sums = Run(ReduceAttributes{.op = Op::kSum, .axes = Axes{1}}, {odd});
  EXPECT_TRUE(std::isnan(sums.at(0)) && sums.at(1) == -infinity && sums.at(2) == infinity);
  const Array zero = Run(ReduceAttributes{}, {ArrayOf<float>({2}, {-0.0f, -0.0f})});
  EXPECT_TRUE(std::signbit(zero.at(0)));
}

// In float32 a running sum of ones stops at 2^24; squares of numbers far from 0 cancel.
TEST_F(DeviceTest, LongSumsKeepTheirDigits) {
  constexpr int64_t kCount = (1 << 24) + 1000;
  const Array ones = ArrayOf<float>({kCount}, std::vector<float>(kCount, 1.0f));
  EXPECT_EQ(Run(ReduceAttributes{}, {ones}).get<float>(0), static_cast<float>(kCount));
  std::vector<double> far(100000);
  for (size_t i = 0; i < far.size(); ++i) far[i] = 1e9 + static_cast<double>(i % 2);
  const Array x = ArrayOf<double>({100000}, far);
  EXPECT_NEAR(Run(ReduceAttributes{.op = Op::kVar}, {x}).get<double>(0), 0.25, 1e-12);
}

TEST_F(DeviceTest, NormsOfAllOrders) {
  const Array x = ArrayOf<float>({4}, {3, -4, 0, 0.5f});
  const auto norm = [&](double order) {
    return Run(ReduceAttributes{.op = Op::kNorm, .parameter = order}, {x}).at(0);
  };
  EXPECT_FLOAT_EQ(norm(0), 3);
  EXPECT_FLOAT_EQ(norm(1), 7.5);
  EXPECT_FLOAT_EQ(norm(3), std::cbrt(27 + 64 + 0.125));
  EXPECT_FLOAT_EQ(norm(INFINITY), 4);
  EXPECT_FLOAT_EQ(norm(-INFINITY), 0);
}

TEST_F(DeviceTest, ReductionsOfNothing) {
  const Array none = ArrayOf<float>({3, 0}, {});
  const Array sums =
      Run(ReduceAttributes{.op = Op::kSum, .axes = Axes{1}, .keepdims = true}, {none});
  EXPECT_EQ(sums.type.shape, (Shape{3, 1}));
  EXPECT_TRUE(sums.at(0) == 0 && !std::signbit(sums.at(0)) && sums.at(2) == 0);
  EXPECT_EQ(Run(ReduceAttributes{.op = Op::kProd}, {none}).at(0), 1);
  EXPECT_TRUE(std::isnan(Run(ReduceAttributes{.op = Op::kMean}, {none}).at(0)));
  EXPECT_TRUE(std::isnan(Run(ReduceAttributes{.op = Op::kVar}, {none}).at(0)));
  EXPECT_EQ(Run(ReduceAttributes{.op = Op::kAll}, {none}).at(0), 1);
  EXPECT_EQ(Run(ReduceAttributes{.op = Op::kNorm, .parameter = INFINITY}, {none}).at(0), 0);
  EXPECT_EQ(Run(ReduceAttributes{.op = Op::kMax, .axes = Axes{0}}, {none}).type.shape, (Shape{0}));
}

TEST_F(DeviceTest, BatchOfReductionsIsBitEqualToThemAlone) {
  const Shape shapes[] = {{9, 33}, {1000, 16},  {3, 50000}, {64, 64}, {1, 1},
                          {0, 5},  {7, 300000}, {64, 64},   {5000, 3}};
  for (const Op op : {Op::kSum, Op::kStd, Op::kArgMax, Op::kSoftmax}) {
    for (const int64_t axis : {0, 1}) {
      std::vector<Call> calls;
      for (const Shape& shape : shapes) {
        if (op == Op::kArgMax && shape[0] == 0) continue;
        ProgramBuilder builder(1);
        const uint32_t along =
            builder.Add(ReduceAttributes{.op = op, .axes = Axes{axis}, .keepdims = true}, {0});
        const uint32_t all = builder.Add(ReduceAttributes{.op = Op::kMean}, {0});
        calls.push_back(
            {builder.Returning({along, all}),
             {UniformArray(DType::kFloat32, shape, -1, 1, static_cast<unsigned>(shape[1]))}});
      }
      const auto batched = RunBatch(calls);
      for (size_t i = 0; i < calls.size(); ++i) {
        ASSERT_TRUE(batched[i].ok()) << batched[i].status();
        const auto alone = Run(calls[i]);
        EXPECT_TRUE(SameElements((*batched[i])[0], alone[0])) << i;
        EXPECT_TRUE(SameElements((*batched[i])[1], alone[1])) << i;
      }
    }
  }
}

// x - mean(x) of rows: elementwise, a reduction, elementwise that broadcasts its result.
TEST_F(DeviceTest, ReductionsTakePartInPrograms) {
  ProgramBuilder builder(1);
  const uint32_t doubled = builder.Add(ElementwiseOp::kAdd, {0, 0});
  const uint32_t mean =
      builder.Add(ReduceAttributes{.op = Op::kMean, .axes = Axes{-1}, .keepdims = true}, {doubled});
  const uint32_t centred = builder.Add(ElementwiseOp::kSubtract, {doubled, mean});
  const Call call = {builder.Returning({centred}),
                     {ArrayOf<float>({2, 4}, {1, 2, 3, 4, 5, 5, 5, 5})}};
  EXPECT_TRUE(SameElements(Run(call)[0], ArrayOf<float>({2, 4}, {-3, -1, 1, 3, 0, 0, 0, 0})));
}

}  // namespace
}  // namespace gpucall::contract
