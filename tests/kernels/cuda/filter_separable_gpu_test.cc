// Separable CUDA filters against their CPU twin.
#include "tests/kernels/cuda/filter_fixture.h"

namespace gpucall::cuda {
namespace {

template <typename In>
std::vector<double> ExactSeparable(const std::vector<In>& image, const Size& size,
                                   const FilterWindow& window, const std::vector<double>& rows,
                                   const std::vector<double>& columns) {
  std::vector<double> exact(size.count());
  cpu::SeparableFilter(CpuImage(image, size), CpuWindow(window), rows, columns,
                       {exact.data(), cpu::ElementType::kFloat64});
  return exact;
}

template <typename Types>
class SeparableTest : public FilterTest<Types> {
 protected:
  using typename FilterTest<Types>::In;
  using typename FilterTest<Types>::Out;

  // Of several images at once, through the kernel that fits them.
  std::vector<std::vector<Out>> Separable(const FilterWindow& window,
                                          const std::vector<Size>& sizes,
                                          const std::vector<std::vector<In>>& images,
                                          const std::vector<double>& rows,
                                          const std::vector<double>& columns) {
    const int channels = sizes[0].channels;
    EXPECT_TRUE(SeparableFits(window, channels));
    SeparableWeights weights = {};
    std::copy(rows.begin(), rows.end(), weights.rows);
    std::copy(columns.begin(), columns.end(), weights.columns);
    const FilterTile tile = SeparableTile(ShapeOf<In, Out>(window, sizes), weights);
    const Batch<In, Out> batch(window, tile, sizes, images, {});
    EXPECT_EQ(LaunchSeparable(batch.get(), weights, nullptr), cudaSuccess);
    return this->Outputs(batch, sizes.size());
  }

  std::vector<Out> SeparablePasses(const FilterWindow& window, const Size& size,
                                   const std::vector<In>& image, const std::vector<double>& rows,
                                   const std::vector<double>& columns) {
    const Batch<In, Out> batch(window, {1, 1}, {size}, {image}, {});
    const DeviceArray<double> row_weights(rows), column_weights(columns), scratch(size.count());
    double outside_row = 0;
    for (const double weight : columns) outside_row += weight * window.cval;
    EXPECT_EQ(LaunchSeparablePasses(batch.get(), row_weights.data(), column_weights.data(),
                                    outside_row, scratch.data(), nullptr),
              cudaSuccess);
    return batch.Output(0);
  }
};
TYPED_TEST_SUITE(SeparableTest, PixelTypes);

TYPED_TEST(SeparableTest, InOneKernel) {
  using In = typename TestFixture::In;
  for (const auto& [rows, columns] : std::vector<std::array<int, 2>>{
           {1, 1}, {3, 3}, {5, 5}, {4, 2}, {1, 17}, {17, 1}, {9, 64}, {65, 7}, {128, 128}}) {
    const auto row_weights = RandomWeights(rows, 1), column_weights = RandomWeights(columns, 2);
    const double bound = Bound(SumOfMagnitudes(row_weights) * SumOfMagnitudes(column_weights));
    for (const Size& size : kSizes) {
      for (const Border border : kBorders) {
        const FilterWindow window = WindowOf(rows, columns, border);
        if (!SeparableFits(window, size.channels)) continue;
        SCOPED_TRACE(::testing::Message()
                     << rows << "x" << columns << " over " << size << " border " << int(border));
        const auto image = RandomImage<In>(size.count(), 3);
        const auto got = this->Separable(window, {size}, {image}, row_weights, column_weights);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(
            got[0], ExactSeparable(image, size, window, row_weights, column_weights), bound));
      }
    }
  }
}

TYPED_TEST(SeparableTest, InTwoPasses) {
  using In = typename TestFixture::In;
  for (const auto& [rows, columns] :
       std::vector<std::array<int, 2>>{{1, 1}, {3, 200}, {301, 5}, {150, 150}}) {
    const auto row_weights = RandomWeights(rows, 1), column_weights = RandomWeights(columns, 2);
    const double bound = Bound(SumOfMagnitudes(row_weights) * SumOfMagnitudes(column_weights));
    for (const Size& size : {Size{1, 1, 1}, Size{5, 3, 2}, Size{40, 70, 11}}) {
      for (const Border border : kBorders) {
        const FilterWindow window = WindowOf(rows, columns, border);
        SCOPED_TRACE(::testing::Message()
                     << rows << "x" << columns << " over " << size << " border " << int(border));
        const auto image = RandomImage<In>(size.count(), 3);
        const auto got = this->SeparablePasses(window, size, image, row_weights, column_weights);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(
            got, ExactSeparable(image, size, window, row_weights, column_weights), bound));
      }
    }
  }
}

TYPED_TEST(SeparableTest, NanSpreadsThroughWindowsThatHoldIt) {
  using In = typename TestFixture::In;
  if (kIsUint8<In>) GTEST_SKIP() << "uint8 has no NaN";
  const Size size = {40, 40, 1};
  auto image = RandomImage<In>(size.count(), 9);
  image[20 * 40 + 20] = static_cast<In>(std::nanf(""));
  const FilterWindow window = WindowOf(3, 5, Border::kNearest);
  const std::vector<double> rows = {1, 0, 1}, columns = {0, 1, 2, 1, 0};
  ExpectNear(this->Separable(window, {size}, {image}, rows, columns)[0],
             ExactSeparable(image, size, window, rows, columns), Bound(8));
}

// Windows around their middle: kernels made for their size, at and between the edges of tiles.
TYPED_TEST(SeparableTest, AroundTheMiddle) {
  using In = typename TestFixture::In;
  for (const int side : {3, 5, 7, 9, 11, 13, 21, 31, 33, 35}) {
    const auto row_weights = RandomWeights(side, 1), column_weights = RandomWeights(side, 2);
    const double bound = Bound(SumOfMagnitudes(row_weights) * SumOfMagnitudes(column_weights));
    for (const Size& size : {Size{300, 1500, 1},
                             {70, 640, 3},
                             {90, 512, 4},
                             {90, 515, 4},
                             {40, 2049, 1},
                             {2, 1024, 1},
                             {129, 3, 1}}) {
      for (const Border border : {Border::kReflect, Border::kConstant}) {
        FilterWindow window = WindowOf(side, side, border);
        window.columns_before = side / 2;
        if (!SeparableFits(window, size.channels)) continue;
        SCOPED_TRACE(::testing::Message() << side << " over " << size << " border " << int(border));
        const auto image = RandomImage<In>(size.count(), 3);
        const auto got = this->Separable(window, {size}, {image}, row_weights, column_weights);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(
            got[0], ExactSeparable(image, size, window, row_weights, column_weights), bound));
      }
    }
  }
}

// Equal weights: sums run on. Rows of tiles that are no multiple of chunks; sums that stop being
// finite for a while.
TYPED_TEST(SeparableTest, Boxes) {
  using In = typename TestFixture::In;
  for (const auto& [rows, columns] :
       std::vector<std::array<int, 2>>{{24, 24}, {65, 65}, {31, 128}, {128, 25}}) {
    const std::vector<double> row_weights(static_cast<size_t>(rows), 1.0 / rows);
    const std::vector<double> column_weights(static_cast<size_t>(columns), 1.0 / columns);
    for (const Size& size : {Size{1, 1, 1}, {300, 700, 1}, {45, 515, 1}, {600, 20, 1}}) {
      for (const Border border : kBorders) {
        const FilterWindow window = WindowOf(rows, columns, border);
        SCOPED_TRACE(::testing::Message()
                     << rows << "x" << columns << " over " << size << " border " << int(border));
        auto image = RandomImage<In>(size.count(), 3);
        if constexpr (!kIsUint8<In>) {
          if (size.count() > 70000) {
            image[70000] = std::numeric_limits<float>::infinity();
            image[70005] = std::nanf("");
          }
        }
        const auto got = this->Separable(window, {size}, {image}, row_weights, column_weights);
        ASSERT_NO_FATAL_FAILURE(ExpectNear(
            got[0], ExactSeparable(image, size, window, row_weights, column_weights), Bound(1)));
      }
    }
  }
}

// Bits, of images in one launch.
TYPED_TEST(SeparableTest, BatchDoesNotChangeBits) {
  const MixedImages<typename TestFixture::In> mixed;
  const std::vector<double> weights = {0.25, 0.5, 0.25};
  FilterWindow window = WindowOf(3, 3, Border::kMirror);
  window.columns_before = 1;
  const auto batch = this->Separable(window, mixed.sizes, mixed.images, weights, weights);
  for (size_t i = 0; i < mixed.sizes.size(); ++i) {
    if (mixed.sizes[i].count() == 0) continue;
    SCOPED_TRACE(::testing::Message() << "image " << i << " of " << mixed.sizes[i]);
    EXPECT_EQ(batch[i],
              this->Separable(window, {mixed.sizes[i]}, {mixed.images[i]}, weights, weights)[0]);
  }
}

}  // namespace
}  // namespace gpucall::cuda
