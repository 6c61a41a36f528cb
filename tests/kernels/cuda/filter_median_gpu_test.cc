// CUDA medians against their CPU twin: equal bits.
#include <cstring>

#include "tests/kernels/cuda/filter_fixture.h"

namespace gpucall::cuda {
namespace {

template <typename Types>
class MedianTest : public FilterTest<Types> {
 protected:
  using typename FilterTest<Types>::In;
  using typename FilterTest<Types>::Out;

  std::vector<std::vector<Out>> Median(const FilterWindow& window, const std::vector<Size>& sizes,
                                       const std::vector<std::vector<In>>& images) {
    const int rank = window.rows * window.columns / 2;
    const FilterTile tile = RankTile(ShapeOf<In, Out>(window, sizes), rank);
    const Batch<In, Out> batch(window, tile, sizes, images, {});
    EXPECT_EQ(LaunchRank(batch.get(), rank, nullptr), cudaSuccess);
    return this->Outputs(batch, sizes.size());
  }

  void ExpectMedian(const FilterWindow& window, const Size& size, const std::vector<In>& image) {
    std::vector<Out> expected(size.count());
    cpu::RankFilter(CpuImage(image, size), CpuWindow(window), window.rows * window.columns / 2,
                    {expected.data(), kElement<Out>});
    const std::vector<Out> got = Median(window, {size}, {image})[0];
    for (size_t i = 0; i < got.size(); ++i) {
      if (expected[i] != expected[i]) {
        ASSERT_TRUE(got[i] != got[i]) << "element " << i;
      } else {
        ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(Out)), 0)
            << "element " << i << ": " << double(got[i]) << ", not " << double(expected[i]);
      }
    }
  }

  // Of all sizes and borders.
  void ExpectMedians(int rows, int columns) {
    for (const Size& size : kSizes) {
      for (const Border border : kBorders) {
        SCOPED_TRACE(::testing::Message()
                     << rows << "x" << columns << " over " << size << " border " << int(border));
        ASSERT_NO_FATAL_FAILURE(
            ExpectMedian(WindowOf(rows, columns, border), size, RandomImage<In>(size.count(), 6)));
      }
    }
  }
};
TYPED_TEST_SUITE(MedianTest, PixelTypes);

TYPED_TEST(MedianTest, NetworksEqualTheirCpuTwin) {
  for (const auto& [rows, columns] :
       std::vector<std::array<int, 2>>{{1, 1}, {3, 3}, {5, 5}, {2, 2}, {1, 5}, {4, 3}}) {
    ASSERT_NO_FATAL_FAILURE(this->ExpectMedians(rows, columns));
  }
}

TYPED_TEST(MedianTest, SelectionEqualsItsCpuTwin) {
  ASSERT_NO_FATAL_FAILURE(this->ExpectMedians(7, 7));
  ASSERT_NO_FATAL_FAILURE(this->ExpectMedians(15, 21));
}

// Windows around their middle over images of many tiles, some of which hold NaN.
TYPED_TEST(MedianTest, AroundTheMiddle) {
  using In = typename TestFixture::In;
  for (const int side : {3, 5, 7}) {
    for (const Size& size : {Size{300, 1500, 1}, {130, 640, 3}, {40, 2049, 1}, {2, 1024, 1}}) {
      FilterWindow window = WindowOf(side, side, Border::kReflect);
      window.columns_before = side / 2;
      SCOPED_TRACE(::testing::Message() << side << " over " << size);
      auto image = RandomImage<In>(size.count(), 3);
      if constexpr (!kIsUint8<In>) {
        for (size_t i = 5; i < image.size(); i += 99991) image[i] = -std::nanf("");
      }
      ASSERT_NO_FATAL_FAILURE(this->ExpectMedian(window, size, image));
    }
  }
}

// Over several tiles; images of noise, of two values and of slopes.
TYPED_TEST(MedianTest, LargeWindows) {
  using In = typename TestFixture::In;
  for (const auto& [side, size] : std::vector<std::pair<int, Size>>{{9, {150, 700, 1}},
                                                                    {15, {300, 450, 1}},
                                                                    {15, {70, 90, 3}},
                                                                    {31, {90, 420, 1}},
                                                                    {33, {40, 230, 1}},
                                                                    {63, {40, 300, 1}}}) {
    for (const Border border : {Border::kReflect, Border::kConstant}) {
      SCOPED_TRACE(::testing::Message() << side << " over " << size << " border " << int(border));
      auto image = RandomImage<In>(size.count(), 9);
      ASSERT_NO_FATAL_FAILURE(this->ExpectMedian(WindowOf(side, side, border), size, image));
      for (size_t i = 0; i < image.size(); ++i) {
        image[i] = static_cast<In>(i / 97 % 3 == 0 ? i / 50 % 256 : i % 5 < 2 ? 255 : 0);
      }
      ASSERT_NO_FATAL_FAILURE(this->ExpectMedian(WindowOf(side, side, border), size, image));
    }
  }
}

// Each of the kernels, in little time: what racecheck runs.
TYPED_TEST(MedianTest, OfSmallImages) {
  using In = typename TestFixture::In;
  for (const int side : {3, 5, 6, 7, 9, 15, 33}) {
    for (const Size& size : {Size{37, 70, 1}, {20, 30, 3}}) {
      SCOPED_TRACE(::testing::Message() << side << " over " << size);
      ASSERT_NO_FATAL_FAILURE(this->ExpectMedian(WindowOf(side, side, Border::kReflect), size,
                                                 RandomImage<In>(size.count(), 5)));
    }
  }
}

TYPED_TEST(MedianTest, LargestWindow) {
  using In = typename TestFixture::In;
  const Size size = {7, 6, 1};
  this->ExpectMedian(WindowOf(255, 255, Border::kMirror), size, RandomImage<In>(size.count(), 7));
}

TYPED_TEST(MedianTest, OrdersSpecialValues) {
  using In = typename TestFixture::In;
  if (kIsUint8<In>) GTEST_SKIP() << "uint8 has no special values";
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kValues[] = {0.0f, -0.0f, kInfinity, -kInfinity, std::nanf(""), 1.0f, -1.0f};
  const Size size = {40, 40, 1};
  std::mt19937 random(8);
  std::vector<In> image(size.count());
  for (In& pixel : image) pixel = static_cast<In>(kValues[random() % std::size(kValues)]);
  for (const int side : {1, 3, 5, 6}) {
    this->ExpectMedian(WindowOf(side, side, Border::kReflect), size, image);
  }
}

// Bits, of images in one launch.
TYPED_TEST(MedianTest, BatchDoesNotChangeBits) {
  const MixedImages<typename TestFixture::In> mixed;
  for (const int side : {3, 4, 5}) {
    const FilterWindow window = WindowOf(side, side, Border::kMirror);
    const auto batch = this->Median(window, mixed.sizes, mixed.images);
    for (size_t i = 0; i < mixed.sizes.size(); ++i) {
      if (mixed.sizes[i].count() == 0) continue;
      SCOPED_TRACE(::testing::Message() << "image " << i << " of " << mixed.sizes[i]);
      EXPECT_EQ(batch[i], this->Median(window, {mixed.sizes[i]}, {mixed.images[i]})[0]);
    }
  }
}

}  // namespace
}  // namespace gpucall::cuda
