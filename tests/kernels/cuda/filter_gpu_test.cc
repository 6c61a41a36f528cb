// CUDA filters against their CPU twins.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kernels/cpu/filter.h"
#include "kernels/cuda/filter.h"
#include "tests/testing/device_array.h"

namespace gpucall::cuda {
namespace {

template <typename T>
constexpr bool kIsUint8 = std::is_same_v<T, uint8_t>;
template <typename T>
constexpr PixelType kPixel = kIsUint8<T> ? PixelType::kUint8 : PixelType::kFloat32;
template <typename T>
constexpr cpu::ElementType kElement =
    kIsUint8<T> ? cpu::ElementType::kUint8 : cpu::ElementType::kFloat32;

constexpr Border kBorders[] = {Border::kNearest, Border::kReflect, Border::kMirror, Border::kWrap,
                               Border::kConstant};
constexpr double kCval = 7;

struct Size {
  int64_t rows, columns;
  int channels;
  size_t count() const { return static_cast<size_t>(rows * columns * channels); }
};
std::ostream& operator<<(std::ostream& out, const Size& size) {
  return out << size.rows << "x" << size.columns << "x" << size.channels;
}
// Less than, exactly and more than a tile; channels in one warp and not.
constexpr Size kSizes[] = {{1, 1, 1},    {1, 7, 1},    {9, 1, 3},    {5, 4, 2},
                           {33, 130, 1}, {64, 128, 1}, {100, 67, 3}, {70, 300, 4},
                           {40, 50, 8},  {20, 30, 11}, {3, 2, 200},  {257, 515, 1}};

template <typename T>
std::vector<T> RandomImage(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> image(count);
  for (T& pixel : image) pixel = static_cast<T>(random() % 256);
  return image;
}

FilterWindow WindowOf(int rows, int columns, Border border) {
  return {.rows = rows,
          .columns = columns,
          .rows_before = rows / 2,
          .columns_before = columns / 3,
          .border = border,
          .cval = kCval};
}

cpu::Window CpuWindow(const FilterWindow& window) {
  return {window.rows,
          window.columns,
          window.rows_before,
          window.columns_before,
          static_cast<cpu::Border>(window.border),
          window.cval};
}

template <typename In>
cpu::Image CpuImage(const std::vector<In>& image, const Size& size) {
  return {image.data(), kElement<In>, size.rows, size.columns, size.channels};
}

// The images of a batch in device memory.
template <typename In, typename Out>
class Batch {
 public:
  Batch(const FilterWindow& window, FilterTile tile, const std::vector<Size>& sizes,
        const std::vector<std::vector<In>>& images, const std::vector<std::vector<float>>& kernels)
      : table_(sizes.size()) {
    batch_.channels = sizes[0].channels;
    batch_.input = kPixel<In>;
    batch_.output = kPixel<Out>;
    batch_.window = window;
    std::vector<FilterImage> table;
    for (size_t i = 0; i < sizes.size(); ++i) {
      inputs_.emplace_back(images[i]);
      outputs_.emplace_back(sizes[i].count());
      FilterImage image = {.input = inputs_[i].data(),
                           .output = outputs_[i].data(),
                           .rows = sizes[i].rows,
                           .columns = sizes[i].columns,
                           .first_block = batch_.block_count};
      if (!kernels.empty()) {
        kernels_.emplace_back(kernels[i]);
        weights_.emplace_back(static_cast<size_t>(DenseWeightCount(window)));
        image.kernel = kernels_[i].data();
        image.dense_weights = weights_[i].data();
      }
      batch_.block_count += FilterBlockCount(tile, image.rows, image.columns);
      table.push_back(image);
    }
    batch_.only = table[0];
    batch_.image_count = static_cast<int>(table.size());
    table_ = DeviceArray<FilterImage>(table);
    batch_.table = table_.data();
  }

  const FilterBatch& get() const { return batch_; }
  std::vector<Out> Output(size_t i) const { return outputs_[i].Read(); }

 private:
  FilterBatch batch_;
  DeviceArray<FilterImage> table_;
  std::vector<DeviceArray<In>> inputs_;
  std::vector<DeviceArray<Out>> outputs_;
  std::vector<DeviceArray<float>> kernels_;
  std::vector<DeviceArray<double>> weights_;
};

// `exact` is rounded to what `got` should be; a uint8 within `bound` of a tie may go either way.
template <typename Out>
void ExpectNear(const std::vector<Out>& got, const std::vector<double>& exact, double bound) {
  ASSERT_EQ(got.size(), exact.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(exact[i])) {
      ASSERT_TRUE(kIsUint8<Out> ? got[i] == 0 : std::isnan(double(got[i]))) << "element " << i;
    } else if (kIsUint8<Out>) {
      ASSERT_LE(std::abs(got[i] - std::clamp(exact[i], 0.0, 255.0)), 0.5 + bound)
          << "element " << i;
    } else {
      ASSERT_NEAR(double(got[i]), exact[i], bound) << "element " << i;
    }
  }
}

double SumOfMagnitudes(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += std::abs(weight);
  return sum;
}

// Of float32 sums of elements up to 255.
double Bound(double magnitude) { return 2e-5 * 255 * magnitude; }

std::vector<double> RandomWeights(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> distribution(-0.3, 0.6);
  std::vector<double> weights(static_cast<size_t>(count));
  for (double& weight : weights) weight = distribution(random);
  return weights;
}

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
class FilterTest : public ::testing::Test {
 protected:
  using In = std::tuple_element_t<0, Types>;
  using Out = std::tuple_element_t<1, Types>;
  void SetUp() override { GPUCALL_SKIP_WITHOUT_GPU(); }

  // Of several images at once, through the kernel that fits them.
  std::vector<std::vector<Out>> Separable(const FilterWindow& window,
                                          const std::vector<Size>& sizes,
                                          const std::vector<std::vector<In>>& images,
                                          const std::vector<double>& rows,
                                          const std::vector<double>& columns) {
    const int channels = sizes[0].channels;
    const Batch<In, Out> batch(window, SeparableTile(channels), sizes, images, {});
    EXPECT_TRUE(SeparableFits(window, channels));
    SeparableWeights weights = {};
    std::copy(rows.begin(), rows.end(), weights.rows);
    std::copy(columns.begin(), columns.end(), weights.columns);
    EXPECT_EQ(LaunchSeparable(batch.get(), weights, nullptr), cudaSuccess);
    return Outputs(batch, sizes.size());
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

  std::vector<std::vector<Out>> Dense(const FilterWindow& window, const std::vector<Size>& sizes,
                                      const std::vector<std::vector<In>>& images,
                                      const std::vector<std::vector<float>>& kernels, Flip flip) {
    const Batch<In, Out> batch(window, DenseTile(sizes[0].channels), sizes, images, kernels);
    EXPECT_EQ(LaunchPrepareDenseWeights(batch.get(), WeightType::kFloat32, flip, nullptr),
              cudaSuccess);
    EXPECT_EQ(LaunchDense(batch.get(), nullptr), cudaSuccess);
    return Outputs(batch, sizes.size());
  }

  std::vector<std::vector<Out>> Median(const FilterWindow& window, const std::vector<Size>& sizes,
                                       const std::vector<std::vector<In>>& images) {
    const FilterTile tile = MedianTile(window, kPixel<In>, sizes[0].channels);
    const Batch<In, Out> batch(window, tile, sizes, images, {});
    EXPECT_EQ(LaunchMedian(batch.get(), nullptr), cudaSuccess);
    return Outputs(batch, sizes.size());
  }

  void ExpectMedian(const FilterWindow& window, const Size& size, const std::vector<In>& image) {
    std::vector<Out> expected(size.count());
    cpu::MedianFilter(CpuImage(image, size), CpuWindow(window), {expected.data(), kElement<Out>});
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

 private:
  static std::vector<std::vector<Out>> Outputs(const Batch<In, Out>& batch, size_t count) {
    std::vector<std::vector<Out>> outputs;
    for (size_t i = 0; i < count; ++i) outputs.push_back(batch.Output(i));
    return outputs;
  }
};

using Types = ::testing::Types<std::tuple<uint8_t, uint8_t>, std::tuple<uint8_t, float>,
                               std::tuple<float, uint8_t>, std::tuple<float, float>>;
TYPED_TEST_SUITE(FilterTest, Types);

TYPED_TEST(FilterTest, Separable) {
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

TYPED_TEST(FilterTest, SeparablePasses) {
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

TYPED_TEST(FilterTest, Dense) {
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

TYPED_TEST(FilterTest, DenseFlipsOnBothAxes) {
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

// Sums past 2^24 are in float64: 255 * 2^17 - 254 * 2^17 is not lost beside a large term.
TYPED_TEST(FilterTest, DenseIsExactForLargeWeightsOfUint8) {
  using In = typename TestFixture::In;
  if (!kIsUint8<In>) GTEST_SKIP() << "float32 images are summed in float32";
  const Size size = {1, 3, 1};
  const std::vector<In> image = {255, 1, 255};
  const std::vector<float> kernel = {1 << 24, 1, -(1 << 24)};
  const FilterWindow window = {
      .rows = 1, .columns = 3, .columns_before = 1, .border = Border::kReflect};
  EXPECT_EQ(this->Dense(window, {size}, {image}, {kernel}, Flip::kNo)[0][1], 1);
}

TYPED_TEST(FilterTest, Median) {
  using In = typename TestFixture::In;
  for (const auto& [rows, columns] : std::vector<std::array<int, 2>>{
           {1, 1}, {3, 3}, {5, 5}, {2, 2}, {1, 5}, {4, 3}, {7, 7}, {15, 21}}) {
    for (const Size& size : kSizes) {
      for (const Border border : kBorders) {
        SCOPED_TRACE(::testing::Message()
                     << rows << "x" << columns << " over " << size << " border " << int(border));
        ASSERT_NO_FATAL_FAILURE(this->ExpectMedian(WindowOf(rows, columns, border), size,
                                                   RandomImage<In>(size.count(), 6)));
      }
    }
  }
}

TYPED_TEST(FilterTest, MedianOfTheLargestWindow) {
  using In = typename TestFixture::In;
  const Size size = {20, 20, 1};
  this->ExpectMedian(WindowOf(255, 255, Border::kMirror), size, RandomImage<In>(size.count(), 7));
}

TYPED_TEST(FilterTest, MedianOrdersSpecialValues) {
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

TYPED_TEST(FilterTest, NanSpreadsThroughWindowsThatHoldIt) {
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

// Bits, of images of different sizes, with empty ones among them.
TYPED_TEST(FilterTest, BatchDoesNotChangeBits) {
  using In = typename TestFixture::In;
  std::vector<Size> sizes;
  std::vector<std::vector<In>> images;
  std::vector<std::vector<float>> kernels;
  for (int64_t i = 0; i < 70; ++i) {
    sizes.push_back({i * 7 % 50, 1 + i * 13 % 140, 3});
    images.push_back(RandomImage<In>(sizes.back().count(), static_cast<uint32_t>(i)));
    const auto weights = RandomWeights(9, static_cast<uint32_t>(i));
    kernels.emplace_back(weights.begin(), weights.end());
  }
  const std::vector<double> weights = {0.25, 0.5, 0.25};
  const FilterWindow window = WindowOf(3, 3, Border::kMirror);
  const auto separable = this->Separable(window, sizes, images, weights, weights);
  const auto dense = this->Dense(window, sizes, images, kernels, Flip::kNo);
  const auto median = this->Median(window, sizes, images);
  const auto select = this->Median(WindowOf(4, 4, Border::kMirror), sizes, images);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].count() == 0) continue;
    SCOPED_TRACE(::testing::Message() << "image " << i << " of " << sizes[i]);
    EXPECT_EQ(separable[i], this->Separable(window, {sizes[i]}, {images[i]}, weights, weights)[0]);
    EXPECT_EQ(dense[i], this->Dense(window, {sizes[i]}, {images[i]}, {kernels[i]}, Flip::kNo)[0]);
    EXPECT_EQ(median[i], this->Median(window, {sizes[i]}, {images[i]})[0]);
    EXPECT_EQ(select[i], this->Median(WindowOf(4, 4, Border::kMirror), {sizes[i]}, {images[i]})[0]);
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
