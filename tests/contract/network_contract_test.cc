// Convolutions and pools against sums in extended precision, element by element.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

struct Case {
  NetworkAttributes attributes;
  Shape x;             // NCHW
  Shape weights = {};  // of convolutions
};

// As the layout has it.
Shape Laid(const Shape& nchw, ImageLayout layout) {
  if (layout == ImageLayout::kNchw) return nchw;
  return {nchw[0], nchw[2], nchw[3], nchw[1]};
}
int64_t Offset(const Shape& nchw, ImageLayout layout, int64_t image, int64_t channel, int64_t y,
               int64_t x) {
  const int64_t channels = nchw[1], rows = nchw[2], columns = nchw[3];
  return layout == ImageLayout::kNchw ? ((image * channels + channel) * rows + y) * columns + x
                                      : ((image * rows + y) * columns + x) * channels + channel;
}

const Case kCases[] = {
    {{}, {2, 3, 9, 11}, {5, 3, 3, 4}},
    {{.stride = {2, 3}, .before = {1, 2}, .after = {0, 3}}, {2, 3, 9, 11}, {70, 3, 3, 4}},
    {{.dilation = {2, 3}, .before = {4, 4}, .after = {4, 4}}, {1, 20, 7, 8}, {6, 20, 3, 3}},
    {{.before = {1, 1}, .after = {1, 1}, .groups = 3}, {3, 6, 10, 10}, {9, 2, 3, 3}},
    {{.groups = 4}, {1, 4, 1, 70}, {4, 1, 1, 1}},
    {{.before = {1, 1}, .after = {1, 1}}, {0, 3, 4, 4}, {2, 3, 3, 3}},
    {{.before = {2, 2}, .after = {2, 2}}, {1, 2, 0, 3}, {2, 2, 3, 3}},
    {{}, {2, 0, 5, 5}, {3, 0, 2, 2}},
};

class Convolutions
    : public DeviceTest,
      public testing::WithParamInterface<std::tuple<Case, DType, ImageLayout, bool>> {};

TEST_P(Convolutions, EqualSums) {
  const auto& [test, dtype, layout, has_bias] = GetParam();
  NetworkAttributes attributes = test.attributes;
  attributes.layout = layout;
  const Array x = UniformArray(dtype, Laid(test.x, layout), -1, 2, 1);
  const Array weights = UniformArray(dtype, test.weights, -2, 1, 2);
  const Array bias = UniformArray(dtype, {test.weights[0]}, -3, 3, 3);
  std::vector<Array> inputs = {x, weights};
  if (has_bias) inputs.push_back(bias);
  const Array got = Run(attributes, inputs);
  const Shape& w = test.weights;
  Shape shape = {test.x[0], w[0], 0, 0};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t room = test.x[2 + axis] + attributes.before[axis] + attributes.after[axis] -
                         attributes.dilation[axis] * (w[2 + axis] - 1) - 1;
    shape[2 + axis] = room / attributes.stride[axis] + 1;
  }
  ASSERT_EQ(got.type, (TensorType{dtype, Laid(shape, layout)}));
  const int64_t out_each = w[0] / attributes.groups;
  const long double sum_unit = dtype == DType::kFloat64 ? 0x1p-53L : 0x1p-24L;
  const long double unit = dtype == DType::kFloat16 ? 0x1p-11L : 0;
  for (int64_t i = 0; i < got.count(); ++i) {
    const int64_t column = i % shape[3], row = i / shape[3] % shape[2];
    const int64_t channel = i / shape[3] / shape[2] % shape[1];
    const int64_t image = i / shape[3] / shape[2] / shape[1];
    long double sum = has_bias ? bias.at(channel) : 0, magnitude = std::abs(sum);
    for (int64_t t = 0; t < w[1] * w[2] * w[3]; ++t) {
      const int64_t c = t / w[3] / w[2];
      const int64_t y = row * attributes.stride[0] + t / w[3] % w[2] * attributes.dilation[0] -
                        attributes.before[0];
      const int64_t z =
          column * attributes.stride[1] + t % w[3] * attributes.dilation[1] - attributes.before[1];
      if (y < 0 || y >= test.x[2] || z < 0 || z >= test.x[3]) continue;
      const int64_t from = channel / out_each * w[1] + c;
      const long double term =
          static_cast<long double>(x.at(Offset(test.x, layout, image, from, y, z))) *
          weights.at(channel * w[1] * w[2] * w[3] + t);
      sum += term;
      magnitude += std::abs(term);
    }
    const auto terms = static_cast<long double>(w[1] * w[2] * w[3] + 2);
    ASSERT_LE(std::abs(got.at(Offset(shape, layout, image, channel, row, column)) - sum),
              sum_unit * terms * magnitude + unit * std::abs(sum))
        << i;
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, Convolutions,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(DType::kFloat16, DType::kFloat32, DType::kFloat64),
                     testing::Values(ImageLayout::kNchw, ImageLayout::kNhwc), testing::Bool()),
    [](const auto& info) { return absl::StrCat(info.index); });

// Of whole numbers, whose sums are exact.
TEST_F(DeviceTest, PoolsTakeWhatIsInTheImage) {
  const std::vector<float> elements = {1, 8, 2, 7, 3, 6, 4, 5, 9};
  const Array x = ArrayOf<float>({1, 1, 3, 3}, elements);
  NetworkAttributes pool = {.kind = NetworkKind::kMaxPool2d, .size = {2, 2}, .stride = {2, 2}};
  pool.before = pool.after = {1, 1};
  EXPECT_TRUE(SameElements(Run(pool, {x}), ArrayOf<float>({1, 1, 2, 2}, {1, 8, 7, 9})));
  pool.kind = NetworkKind::kAvgPool2d;
  EXPECT_TRUE(SameElements(Run(pool, {x}), ArrayOf<float>({1, 1, 2, 2}, {1, 5, 5.5, 5.75})));
  pool.count_padding = true;
  EXPECT_TRUE(SameElements(Run(pool, {x}), ArrayOf<float>({1, 1, 2, 2}, {0.25, 2.5, 2.75, 5.75})));
}

// 0 stands for the window's size; the last windows pass the image.
TEST_F(DeviceTest, CeilModeGivesTheRest) {
  const Array x = ArrayOf<double>({1, 1, 1, 5}, {1, 2, 3, 4, 6});
  NetworkAttributes pool = {
      .kind = NetworkKind::kAvgPool2d, .size = {1, 2}, .stride = {0, 0}, .ceil_mode = true};
  pool.count_padding = true;
  EXPECT_TRUE(SameElements(Run(pool, {x}), ArrayOf<double>({1, 1, 1, 3}, {1.5, 3.5, 6})));
  pool.ceil_mode = false;
  EXPECT_TRUE(SameElements(Run(pool, {x}), ArrayOf<double>({1, 1, 1, 2}, {1.5, 3.5})));
}

TEST_F(DeviceTest, PoolsOfBothLayoutsAgree) {
  for (const DType dtype : {DType::kBfloat16, DType::kFloat32}) {
    const Array x = MixedArray(dtype, {2, 3, 7, 9}, 1);
    const RearrangeAttributes to_last = {.kind = RearrangeKind::kTranspose,
                                         .axes = Axes{0, 2, 3, 1}};
    const Array last = Run(to_last, {x});
    for (const NetworkKind kind : {NetworkKind::kMaxPool2d, NetworkKind::kAvgPool2d}) {
      NetworkAttributes pool = {.kind = kind, .size = {3, 2}, .stride = {1, 2}};
      pool.dilation = {2, 1};
      pool.before = {1, 0};
      const Array wanted = Run(to_last, {Run(pool, {x})});
      pool.layout = ImageLayout::kNhwc;
      EXPECT_TRUE(SameElements(Run(pool, {last}), wanted));
    }
  }
}

TEST_F(DeviceTest, LayersInABatchAreThoseAlone) {
  std::vector<Call> calls;
  for (unsigned i = 0; i < 4; ++i) {
    calls.push_back({ProgramOf(NetworkAttributes{}, 3),
                     {UniformArray(DType::kFloat32, {1, 3, i < 2 ? 8 : 9, 8}, -1, 1, i),
                      UniformArray(DType::kFloat32, {4, 3, 3, 3}, -1, 1, 10 + i),
                      UniformArray(DType::kFloat32, {4}, -1, 1, 20 + i)}});
  }
  const std::vector<Results> together = RunBatch(calls);
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(together[i].ok()) << together[i].status();
    EXPECT_TRUE(SameElements((*together[i])[0], Run(calls[i])[0])) << i;
  }
}

}  // namespace
}  // namespace gpucall::contract
