// Rearrangements of every element size, against where each element must come from.
#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

using Kind = RearrangeKind;
using Range = RearrangeAttributes::Range;
using Coordinates = std::vector<int64_t>;

// Elements that tell where they were: 1, 2, 3... of any dtype.
Array Numbered(DType dtype, const Shape& shape) {
  Array array = {{dtype, shape}, {}};
  const size_t size = ElementSize(dtype);
  array.bytes.resize(static_cast<size_t>(array.type.size_bytes()));
  for (int64_t i = 0; i < array.count(); ++i) {
    const int64_t number = i + 1;
    std::memcpy(array.bytes.data() + static_cast<size_t>(i) * size, &number,
                std::min(size, sizeof(number)));
  }
  return array;
}

int64_t IndexOf(const Shape& shape, const Coordinates& at) {
  int64_t index = 0;
  for (size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

// Calls visit(index, coordinates) for all elements.
template <class Visit>
void ForEach(const Shape& shape, Visit visit) {
  for (int64_t i = 0; i < ElementCount(shape); ++i) {
    Coordinates at(shape.size());
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    visit(i, at);
  }
}

// `from` gives the index in `x` of the result's element, or -1 for one of bytes 0.
void Expect(const Array& got, const Shape& shape, const Array& x,
            const std::function<int64_t(const Coordinates&)>& from) {
  ASSERT_EQ(got.type.shape, shape);
  const size_t size = ElementSize(x.type.dtype);
  const std::vector<std::byte> zeros(size);
  ForEach(shape, [&](int64_t i, const Coordinates& at) {
    const int64_t index = from(at);
    const std::byte* wanted =
        index < 0 ? zeros.data() : x.bytes.data() + static_cast<size_t>(index) * size;
    ASSERT_EQ(std::memcmp(got.bytes.data() + static_cast<size_t>(i) * size, wanted, size), 0)
        << "element " << i;
  });
}

class RearrangeContract : public DeviceTest, public testing::WithParamInterface<DType> {};

TEST_P(RearrangeContract, Transpose) {
  for (const auto& [shape, axes] : {std::pair(Shape{5}, Axes{0}),
                                    {Shape{70, 45}, {1, 0}},
                                    {Shape{64, 128}, {1, 0}},
                                    {Shape{3, 40, 5}, {2, -2, 0}},
                                    {Shape{4, 33, 65}, {0, 2, 1}},
                                    {Shape{2, 3, 4, 5}, {3, 1, 0, 2}},
                                    {Shape{2, 0, 3}, {2, 1, 0}}}) {
    const Array x = Numbered(GetParam(), shape);
    Shape wanted;
    for (const int64_t axis : axes)
      wanted.push_back(shape[(axis + 4 * shape.size()) % shape.size()]);
    Expect(Run(RearrangeAttributes{.kind = Kind::kTranspose, .axes = axes}, {x}), wanted, x,
           [&](const Coordinates& at) {
             Coordinates source(at.size());
             for (size_t d = 0; d < at.size(); ++d) {
               source[static_cast<size_t>(axes[d] < 0 ? axes[d] + 3 : axes[d])] = at[d];
             }
             return IndexOf(shape, source);
           });
  }
}

TEST_P(RearrangeContract, SlicesAndFlips) {
  const Shape shape = {10, 17, 8};
  const Array x = Numbered(GetParam(), shape);
  Expect(Run(RearrangeAttributes{.kind = Kind::kSlice,
                                 .ranges = {{.start = 8, .stop = 1, .step = -3},
                                            {.start = -15, .stop = 100, .step = 4}}},
             {x}),
         {3, 4, 8}, x, [&](const Coordinates& at) {
           return IndexOf(shape, {8 - 3 * at[0], 2 + 4 * at[1], at[2]});
         });
  Expect(Run(RearrangeAttributes{.kind = Kind::kSlice,
                                 .ranges = {{.start = -1, .drop = true}, {.start = 4}}},
             {x}),
         {13, 8}, x, [&](const Coordinates& at) {
           return IndexOf(shape, {9, 4 + at[0], at[1]});
         });
  Expect(Run(RearrangeAttributes{.kind = Kind::kSlice, .ranges = {{.start = 5, .stop = 5}}}, {x}),
         {0, 17, 8}, x, [](const Coordinates&) { return 0; });
  Expect(Run(RearrangeAttributes{.kind = Kind::kFlip, .axes = Axes{0, -1}}, {x}), shape, x,
         [&](const Coordinates& at) {
           return IndexOf(shape, {9 - at[0], at[1], 7 - at[2]});
         });
}

TEST_P(RearrangeContract, PadsTilesAndRolls) {
  const Shape shape = {6, 8};
  const Array x = Numbered(GetParam(), shape);
  const auto inside = [](int64_t at, int64_t size) { return at >= 0 && at < size; };
  Expect(Run(RearrangeAttributes{.kind = Kind::kPad, .before = {1, 4}, .after = {2, 0}}, {x}),
         {9, 12}, x, [&](const Coordinates& at) {
           const bool in = inside(at[0] - 1, 6) && inside(at[1] - 4, 8);
           return in ? IndexOf(shape, {at[0] - 1, at[1] - 4}) : -1;
         });
  Expect(Run(RearrangeAttributes{.kind = Kind::kTile, .sizes = {2, 1, 3}}, {x}), {2, 6, 24}, x,
         [&](const Coordinates& at) {
           return IndexOf(shape, {at[1], at[2] % 8});
         });
  Expect(Run(RearrangeAttributes{.kind = Kind::kBroadcastTo, .sizes = {5, 6, 8}}, {x}), {5, 6, 8},
         x, [&](const Coordinates& at) {
           return IndexOf(shape, {at[1], at[2]});
         });
  Expect(Run(RearrangeAttributes{.kind = Kind::kRoll, .axes = Axes{0, 1}, .sizes = {2, -9}}, {x}),
         shape, x, [&](const Coordinates& at) {
           return IndexOf(shape, {(at[0] + 4) % 6, (at[1] + 9) % 8});
         });
  Expect(Run(RearrangeAttributes{.kind = Kind::kRoll, .sizes = {50}}, {x}), shape, x,
         [&](const Coordinates& at) { return (IndexOf(shape, at) + 46) % 48; });
}

TEST_P(RearrangeContract, ConcatenatesAndStacks) {
  const Shape a_shape = {3, 5}, b_shape = {3, 11};
  const Array a = Numbered(GetParam(), a_shape), b = Numbered(GetParam(), b_shape);
  const Array joined =
      Run(RearrangeAttributes{.kind = Kind::kConcatenate, .axes = Axes{1}}, {a, b, a});
  ASSERT_EQ(joined.type.shape, (Shape{3, 21}));
  const auto part = [&](int64_t start, int64_t stop) {
    return Run(RearrangeAttributes{.kind = Kind::kSlice,
                                   .ranges = {Range{}, Range{.start = start, .stop = stop}}},
               {joined});
  };
  EXPECT_EQ(part(0, 5).bytes, a.bytes);
  EXPECT_EQ(part(5, 16).bytes, b.bytes);
  EXPECT_EQ(part(16, 21).bytes, a.bytes);
  const Array stacked = Run(RearrangeAttributes{.kind = Kind::kStack, .axes = Axes{-1}}, {a, a});
  Expect(stacked, {3, 5, 2}, a, [&](const Coordinates& at) {
    return IndexOf(a_shape, {at[0], at[1]});
  });
}

INSTANTIATE_TEST_SUITE_P(All, RearrangeContract,
                         testing::Values(DType::kUint8, DType::kInt16, DType::kFloat32,
                                         DType::kComplex64, DType::kComplex128),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

TEST_F(DeviceTest, PadsWithAnyValue) {
  const Array x = ArrayOf<float>({2}, {1, 2});
  const RearrangeAttributes pad = {.kind = Kind::kPad, .before = {3}, .after = {1}, .value = -0.5};
  EXPECT_TRUE(SameElements(Run(pad, {x}), ArrayOf<float>({6}, {-0.5, -0.5, -0.5, 1, 2, -0.5})));
}

// A reshape is the value that it reshapes, wherever it stands in a Program.
TEST_F(DeviceTest, ReshapesMoveNothing) {
  const auto reshape = [](std::initializer_list<int64_t> shape) {
    return RearrangeAttributes{.kind = Kind::kReshape, .sizes = shape};
  };
  ProgramBuilder builder(2);
  const uint32_t row = builder.Add(reshape({1, 6}), {0});                   // of an input
  const uint32_t sum = builder.Add(ElementwiseOp::kAdd, {row, 1});          // (4, 6)
  const uint32_t flat = builder.Add(reshape({-1}), {sum});                  // of a result
  const uint32_t doubled = builder.Add(ElementwiseOp::kAdd, {flat, flat});  // (24)
  const uint32_t again = builder.Add(reshape({2, 3, 4}), {flat});           // of a reshape
  const uint32_t total = builder.Add(ReduceAttributes{.axes = Axes{2}}, {again});
  const Call call = {
      builder.Returning({doubled, total, row, flat, again}),
      {ArrayOf<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}), ArrayOf<int32_t>({4, 1}, {0, 10, 20, 30})}};
  const std::vector<Array> got = Run(call);
  EXPECT_EQ(got[0].at(23), 72);
  EXPECT_EQ(got[0].type.shape, (Shape{24}));
  EXPECT_EQ(got[1].type.shape, (Shape{2, 3}));
  EXPECT_EQ(got[1].at(0), 10);
  EXPECT_EQ(got[1].at(5), 33 + 34 + 35 + 36);
  EXPECT_TRUE(SameElements(got[2], ArrayOf<int32_t>({1, 6}, {1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(got[3].bytes, got[4].bytes);
  EXPECT_EQ(got[4].type.shape, (Shape{2, 3, 4}));
}

TEST_F(DeviceTest, BatchOfRearrangementsIsBitEqualToThemAlone) {
  for (const RearrangeAttributes& attributes :
       {RearrangeAttributes{.kind = Kind::kTranspose},
        RearrangeAttributes{.kind = Kind::kPad, .before = {1}, .after = {3}},
        RearrangeAttributes{.kind = Kind::kRoll, .axes = Axes{1}, .sizes = {5}}}) {
    std::vector<Call> calls;
    for (const Shape& shape :
         {Shape{3, 50}, Shape{40, 40}, Shape{3, 50}, Shape{0, 4}, Shape{1, 1}}) {
      calls.push_back({ProgramOf(attributes, 1), {MixedArray(DType::kFloat32, shape, 7)}});
    }
    const auto batched = RunBatch(calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(batched[i].ok()) << batched[i].status();
      EXPECT_TRUE(SameElements((*batched[i])[0], Run(calls[i])[0])) << i;
    }
  }
}

}  // namespace
}  // namespace gpucall::contract
