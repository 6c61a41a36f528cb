// Sums and products so far, of every dtype, against running ones.
#include <cmath>
#include <random>
#include <string>

#include "tests/contract/buffers.h"

namespace gpucall::contract {
namespace {

template <class T>
std::vector<std::byte> BytesOf(const std::vector<T>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

struct Case {
  Shape shape;
  std::optional<int64_t> axis;
};
// Lines of one span and of several, elements of them side by side and apart, more lines than a warp
// takes, and none.
const Case kCases[] = {{{1}, 0},           {{31}, -1},      {{33}, 0},
                       {{1024}, 0},        {{1025}, 0},     {{5, 130}, 1},
                       {{3, 5000}, 1},     {{130, 5}, 0},   {{5000, 3}, 0},
                       {{2, 2100, 40}, 1}, {{7, 9, 2}, -2}, {{6, 7}, std::nullopt},
                       {{}, std::nullopt}, {{2, 0, 3}, 0},  {{2, 0, 3}, 1},
                       {{70, 1}, 1},       {{300'001}, 0}};

template <class T, class Result>
class Scans {
 public:
  // Elements from `low` to `high`.
  Scans(const Case& c, double low, double high, unsigned seed) : case_(c) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> numbers(low, high);
    for (int64_t i = 0; i < ElementCount(c.shape); ++i) {
      elements_.push_back(static_cast<T>(numbers(random)));
    }
  }

  Array input() const { return ArrayOf<T>(case_.shape, elements_); }

  // In long double of floats, which has more digits than what is accumulated in.
  std::vector<Result> Wanted(ScanOp op) const {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, long double, uint64_t>;
    const auto rank = static_cast<int64_t>(case_.shape.size());
    int64_t inner = 1, count = ElementCount(case_.shape);
    if (case_.axis.has_value()) {
      const auto d = static_cast<size_t>((*case_.axis + rank) % rank);
      count = case_.shape[d];
      for (size_t i = d + 1; i < case_.shape.size(); ++i) inner *= case_.shape[i];
    }
    std::vector<Result> results(elements_.size());
    std::vector<Wide> so_far(elements_.size());
    for (size_t i = 0; i < elements_.size(); ++i) {
      const int64_t e = static_cast<int64_t>(i) / inner % count;
      const Wide x = static_cast<Wide>(elements_[i]);
      const Wide before =
          e == 0 ? Wide(op == ScanOp::kCumSum ? 0 : 1) : so_far[i - static_cast<size_t>(inner)];
      so_far[i] = op == ScanOp::kCumSum ? before + x : before * x;
      results[i] = static_cast<Result>(so_far[i]);
    }
    return results;
  }

 private:
  const Case case_;
  std::vector<T> elements_;
};

template <class T>
class ScanContract : public BufferTest {};
using Types = testing::Types<uint8_t, int32_t, float, double>;
TYPED_TEST_SUITE(ScanContract, Types);

TYPED_TEST(ScanContract, AreRunningSumsAndProducts) {
  using T = TypeParam;
  constexpr bool kFloats = std::is_floating_point_v<T>;
  using Result =
      std::conditional_t<kFloats, T, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  unsigned seed = 0;
  for (const Case& c : kCases) {
    for (const ScanOp op : {ScanOp::kCumSum, ScanOp::kCumProd}) {
      // Products stay near 1, so that long ones neither vanish nor overflow.
      const double low = kFloats ? (op == ScanOp::kCumSum ? -9 : 0.9) : 0;
      const double high = kFloats ? (op == ScanOp::kCumSum ? 9 : 1.1) : 100;
      const Scans<T, Result> scans(c, low, high, ++seed);
      const Array got = this->Run(ScanAttributes{.op = op, .axis = c.axis}, {scans.input()});
      const std::vector<Result> wanted = scans.Wanted(op);
      EXPECT_EQ(got.type.shape, c.axis.has_value() ? c.shape : Shape{ElementCount(c.shape)});
      ASSERT_EQ(got.bytes.size(), wanted.size() * sizeof(Result));
      for (size_t i = 0; i < wanted.size(); ++i) {
        const Result element = got.get<Result>(static_cast<int64_t>(i));
        if constexpr (kFloats) {
          // float64 terms of at most 9, or factors, each rounded; then the result's last place.
          const double bound = 1e-15 * 3e5 * (op == ScanOp::kCumSum ? 9 : std::abs(wanted[i])) +
                               (sizeof(T) == 4 ? 1.2e-7 * std::abs(wanted[i]) + 1.5e-45 : 0);
          ASSERT_NEAR(element, wanted[i], bound) << ShapeString(c.shape) << " element " << i;
        } else {
          ASSERT_EQ(element, wanted[i]) << ShapeString(c.shape) << " element " << i;
        }
      }
    }
  }
}

TYPED_TEST(ScanContract, BatchIsBitEqualToThemAlone) {
  using T = TypeParam;
  for (const ScanOp op : {ScanOp::kCumSum, ScanOp::kCumProd}) {
    std::vector<Call> calls;
    for (const Shape& shape : {Shape{50, 3}, Shape{4}, Shape{3001, 2}, Shape{50, 3}, Shape{0, 4},
                               Shape{1, 1}, Shape{2, 1, 70}, Shape{5000}, Shape{40}}) {
      const ScanAttributes attributes = {.op = op, .axis = 0};
      calls.push_back({ProgramOf(attributes, 1), {UniformArray(DTypeOf<T>(), shape, 0, 2, 9)}});
    }
    const auto batched = this->RunBatch(calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(batched[i].ok()) << batched[i].status();
      EXPECT_EQ((*batched[i])[0].bytes, this->Run(calls[i])[0].bytes) << i;
    }
  }
}

using ScanSpecials = BufferTest;

TEST_F(ScanSpecials, BoolsCountAndSmallIntegersWiden) {
  const Array truths = ArrayOf<bool>({5}, {true, false, true, true, false});
  const Array counts = Run(ScanAttributes{.op = ScanOp::kCumSum, .axis = 0}, {truths});
  EXPECT_EQ(counts.bytes, BytesOf<int64_t>({1, 1, 2, 3, 3}));
  EXPECT_EQ(counts.type.dtype, DType::kInt64);
  const Array bytes = ArrayOf<uint8_t>({3}, {200, 200, 200});
  const Array products = Run(ScanAttributes{.op = ScanOp::kCumProd, .axis = 0}, {bytes});
  EXPECT_EQ(products.bytes, BytesOf<int64_t>({200, 40'000, 8'000'000}));
  EXPECT_EQ(products.type.dtype, DType::kUint64);
}

TEST_F(ScanSpecials, NotANumberStaysAndZerosKeepTheirSigns) {
  const float nan = std::nanf(""), infinity = INFINITY;
  const Array x = ArrayOf<float>({6}, {-0.0f, -0.0f, 1, infinity, -infinity, 2});
  const Array sums = Run(ScanAttributes{.op = ScanOp::kCumSum, .axis = 0}, {x});
  EXPECT_TRUE(SameElements(sums, ArrayOf<float>({6}, {-0.0f, -0.0f, 1, infinity, nan, nan})));
  const Array products = Run(ScanAttributes{.op = ScanOp::kCumProd, .axis = 0}, {x});
  EXPECT_TRUE(SameElements(products, ArrayOf<float>({6}, {-0.0f, 0, 0, nan, nan, nan})));
}

// Of a reshape of a resident tensor, fused work before it and after, results that stay.
TEST_F(ScanSpecials, InProgramsOfResidents) {
  const Array x = UniformArray(DType::kInt32, {20, 150}, -9, 9, 3);
  ProgramBuilder builder(1);
  const uint32_t flat =
      builder.Add(RearrangeAttributes{.kind = RearrangeKind::kReshape, .sizes = {-1}}, {0});
  const uint32_t doubled = builder.Add(ElementwiseOp::kAdd, {flat, flat});
  const uint32_t sums = builder.Add(ScanAttributes{.op = ScanOp::kCumSum, .axis = 0}, {doubled});
  const uint32_t whole =
      builder.Add(RearrangeAttributes{.kind = RearrangeKind::kReshape, .sizes = {20, 150}}, {sums});
  const Program program = builder.Returning({whole, sums, flat});
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < x.count(); ++i) {
    wanted.push_back((i == 0 ? 0 : wanted.back()) + 2 * x.get<int32_t>(i));
  }
  for (unsigned mix = 0; mix < 8; ++mix) {
    const Work work = WorkOf(program, {&x}, {{.resident = BufferOf(x)}},
                             {(mix & 1) != 0, (mix & 2) != 0, (mix & 4) != 0});
    std::vector<Execution> batch = {work.execution()};
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    for (size_t i = 0; i < 3; ++i) {
      const Storage& output = batch[0].outputs[i];
      EXPECT_EQ(output.resident ? Read(output.resident) : Bytes(output),
                i == 2 ? x.bytes : BytesOf(wanted))
          << mix;
    }
  }
}

}  // namespace
}  // namespace gpucall::contract
