// Dense CUDA filters against their CPU twin.
#include "tests/kernels/cuda/filter_fixture.h"

namespace gpucall::cuda {
namespace {

template <typename Types>
class DenseTest : public FilterTest<Types> {
 protected:
  using typename FilterTest<Types>::In;
  using typename FilterTest<Types>::Out;

  std::vector<std::vector<Out>> Dense(const FilterWindow& window, const std::vector<Size>& sizes,
                                      const std::vector<std::vector<In>>& images,
                                      const std::vector<std::vector<float>>& kernels, Flip flip) {
    const FilterTile tile = DenseTile(ShapeOf<In, Out>(window, sizes));
    const Batch<In, Out> batch(window, tile, sizes, images, kernels);
    EXPECT_EQ(LaunchPrepareDenseWeights(batch.get(), WeightType::kFloat32, flip, nullptr),
              cudaSuccess);
    const DenseSums sums = !DenseFits(window, sizes[0].channels) ? DenseSums::kFloat64
                           : kIsUint8<In>                        ? DenseSums::kEither
                                                                 : DenseSums::kFloat32;
    EXPECT_EQ(LaunchDense(batch.get(), sums, nullptr), cudaSuccess);
    return this->Outputs(batch, sizes.size());
  }
};
TYPED_TEST_SUITE(DenseTest, PixelTypes);

TYPED_TEST(DenseTest, EqualsItsCpuTwin) {
  using In = typename TestFixture::In;
  for (const auto& [rows, columns] : std::vector<std::array<int, 2>>{
           {1, 1}, {3, 3}, {7, 7}, {2, 5}, {16, 16}, {256, 1}, {1, 256}, {20, 20}}) {
    auto weights = RandomWeights(rows * columns, 4);
    if (weights.size() > 2) weights[1] = 0;
    const std::vector<float> kernel(weights.begin(), weights.end());
    weights.assign(kernel.begin(), kernel.end());
    for (const Size& size : kSizes) {
      for (const Border border : kBorders) {
        SCOPED_TRACE(::testing::Message()
                     << rows << "x" << columns << " over " << size << " border " << int(border));
        const FilterWindow window = WindowOf(rows, columns, border);
        const auto image = RandomImage<In>(size.count(), 5);
        std::vector<double> exact(size.count());
        cpu::DenseFilter(CpuImage(image, size), CpuWindow(window), weights,
                         {exact.data(), cpu::ElementType::kFloat64});
        const auto got = this->Dense(window, {size}, {image}, {kernel}, Flip::kNo);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(got[0], exact, Bound(SumOfMagnitudes(weights))));
      }
    }
  }
}

// Windows around their middle: kernels made for their size. One image holds NaN and infinity, some
// under weights of 0.
TYPED_TEST(DenseTest, AroundTheMiddle) {
  using In = typename TestFixture::In;
  for (const int side : {3, 5, 7, 9, 11, 13}) {
    for (const bool zeros : {false, true}) {
      auto weights = RandomWeights(side * side, 4);
      if (zeros) weights[1] = weights[weights.size() / 2] = 0;
      const std::vector<float> kernel(weights.begin(), weights.end());
      weights.assign(kernel.begin(), kernel.end());
      for (const Size& size : {Size{300, 1500, 1}, {70, 640, 3}, {90, 512, 4}, {40, 2049, 1}}) {
        const FilterWindow window = {side, side, side / 2, side / 2, Border::kMirror, 0};
        auto image = RandomImage<In>(size.count(), 5);
        if constexpr (!kIsUint8<In>) {
          image[size.count() / 2] = std::numeric_limits<float>::quiet_NaN();
          image[size.count() / 3] = std::numeric_limits<float>::infinity();
        }
        SCOPED_TRACE(::testing::Message() << side << " over " << size << " zeros " << zeros);
        std::vector<double> exact(size.count());
        cpu::DenseFilter(CpuImage(image, size), CpuWindow(window), weights,
                         {exact.data(), cpu::ElementType::kFloat64});
        const auto got = this->Dense(window, {size}, {image}, {kernel}, Flip::kNo);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(got[0], exact, Bound(SumOfMagnitudes(weights))));
      }
    }
  }
}

TYPED_TEST(DenseTest, FlipsOnBothAxes) {
  using In = typename TestFixture::In;
  const Size size = {9, 9, 1};
  std::vector<In> image(size.count(), 0);
  image[4 * 9 + 4] = 1;  // an impulse: convolution shows the kernel
  const std::vector<float> kernel = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const FilterWindow window = {
      .rows = 3, .columns = 3, .rows_before = 1, .columns_before = 1, .border = Border::kReflect};
  const auto got = this->Dense(window, {size}, {image}, {kernel}, Flip::kBoth)[0];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(got[(3 + i) * 9 + 3 + j], kernel[i * 3 + j]);
  }
}

// Sums past 2^24 are in float64: a 1 is not lost beside 255 * 2^24.
TYPED_TEST(DenseTest, IsExactForLargeWeightsOfUint8) {
  using In = typename TestFixture::In;
  if (!kIsUint8<In>) GTEST_SKIP() << "float32 images are summed in float32";
  const Size size = {1, 3, 1};
  const std::vector<In> image = {255, 1, 255};
  const std::vector<float> kernel = {1 << 24, 1, -(1 << 24)};
  const FilterWindow window = {
      .rows = 1, .columns = 3, .columns_before = 1, .border = Border::kReflect};
  EXPECT_EQ(this->Dense(window, {size}, {image}, {kernel}, Flip::kNo)[0][1], 1);
}

// Bits, of images in one launch.
TYPED_TEST(DenseTest, BatchDoesNotChangeBits) {
  const MixedImages<typename TestFixture::In> mixed;
  std::vector<std::vector<float>> kernels;
  for (size_t i = 0; i < mixed.sizes.size(); ++i) {
    const auto weights = RandomWeights(9, static_cast<uint32_t>(i));
    kernels.emplace_back(weights.begin(), weights.end());
  }
  const FilterWindow window = WindowOf(3, 3, Border::kMirror);
  const auto batch = this->Dense(window, mixed.sizes, mixed.images, kernels, Flip::kNo);
  for (size_t i = 0; i < mixed.sizes.size(); ++i) {
    if (mixed.sizes[i].count() == 0) continue;
    SCOPED_TRACE(::testing::Message() << "image " << i << " of " << mixed.sizes[i]);
    EXPECT_EQ(batch[i],
              this->Dense(window, {mixed.sizes[i]}, {mixed.images[i]}, {kernels[i]}, Flip::kNo)[0]);
  }
}

TEST(DenseWeights, TakeEveryType) {
  GPUCALL_SKIP_WITHOUT_GPU();
  const auto prepared = [](const auto& kernel, WeightType type) {
    const DeviceArray device_kernel(kernel);
    const DeviceArray<double> weights(5);
    FilterBatch batch;
    batch.only = {.kernel = device_kernel.data(), .dense_weights = weights.data()};
    batch.image_count = 1;
    batch.window.rows = batch.window.columns = 2;
    EXPECT_EQ(LaunchPrepareDenseWeights(batch, type, Flip::kBoth, nullptr), cudaSuccess);
    return weights.Read();
  };
  EXPECT_EQ(prepared(std::vector<uint8_t>{1, 2, 3, 255}, WeightType::kUint8),
            (std::vector<double>{0, 255, 3, 2, 1}));
  EXPECT_EQ(prepared(std::vector<int>{-1, 2, 3, 1 << 30}, WeightType::kInt32),
            (std::vector<double>{1, 1 << 30, 3, 2, -1}));
  EXPECT_EQ(prepared(std::vector<float>{0.5f, 2, 3, -4}, WeightType::kFloat32),
            (std::vector<double>{0, -4, 3, 2, 0.5}));
  EXPECT_EQ(prepared(std::vector<double>{0.1, 2, 3, 4}, WeightType::kFloat64),
            (std::vector<double>{0, 4, 3, 2, 0.1}));
}

}  // namespace
}  // namespace gpucall::cuda
