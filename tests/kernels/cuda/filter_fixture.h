// What tests of CUDA filters share: images, batches of them, and comparison with their CPU twins.
#ifndef GPUCALL_TESTS_KERNELS_CUDA_FILTER_FIXTURE_H_
#define GPUCALL_TESTS_KERNELS_CUDA_FILTER_FIXTURE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/filter.h"
#include "kernels/cuda/filter.h"
#include "tests/testing/device_array.h"

namespace gpucall::cuda {

template <typename T>
constexpr bool kIsUint8 = std::is_same_v<T, uint8_t>;
template <typename T>
constexpr PixelType kPixel = kIsUint8<T> ? PixelType::kUint8 : PixelType::kFloat32;
template <typename T>
constexpr cpu::ElementType kElement =
    kIsUint8<T> ? cpu::ElementType::kUint8 : cpu::ElementType::kFloat32;

inline constexpr Border kBorders[] = {Border::kNearest, Border::kReflect, Border::kMirror,
                                      Border::kWrap, Border::kConstant};
inline constexpr double kCval = 7;

struct Size {
  int64_t rows, columns;
  int channels;
  size_t count() const { return static_cast<size_t>(rows * columns * channels); }
};
inline std::ostream& operator<<(std::ostream& out, const Size& size) {
  return out << size.rows << "x" << size.columns << "x" << size.channels;
}
// Less than, exactly and more than a tile; channels in one warp and not.
inline constexpr Size kSizes[] = {{1, 1, 1},    {1, 7, 1},    {9, 1, 3},    {5, 4, 2},
                                  {33, 130, 1}, {64, 128, 1}, {100, 67, 3}, {70, 300, 4},
                                  {40, 50, 8},  {20, 30, 11}, {3, 2, 200},  {257, 515, 1}};

template <typename T>
std::vector<T> RandomImage(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> image(count);
  for (T& pixel : image) pixel = static_cast<T>(random() % 256);
  return image;
}

inline FilterWindow WindowOf(int rows, int columns, Border border) {
  return {.rows = rows,
          .columns = columns,
          .rows_before = rows / 2,
          .columns_before = columns / 3,
          .border = border,
          .cval = kCval};
}

inline cpu::Window CpuWindow(const FilterWindow& window) {
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

template <typename In, typename Out>
FilterShape ShapeOf(const FilterWindow& window, const std::vector<Size>& sizes) {
  FilterShape shape = {window, kPixel<In>, kPixel<Out>, sizes[0].channels};
  for (const Size& size : sizes) {
    shape.rows = std::max<long long>(shape.rows, size.rows);
    shape.columns = std::max<long long>(shape.columns, size.columns);
  }
  shape.images = static_cast<int>(sizes.size());
  return shape;
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
    batch_.tile = tile;
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
    if (double(got[i]) == exact[i]) continue;
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

inline double SumOfMagnitudes(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += std::abs(weight);
  return sum;
}

// Of float32 sums of elements up to 255.
inline double Bound(double magnitude) { return 2e-5 * 255 * magnitude; }

inline std::vector<double> RandomWeights(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> distribution(-0.3, 0.6);
  std::vector<double> weights(static_cast<size_t>(count));
  for (double& weight : weights) weight = distribution(random);
  return weights;
}

// Typed by a tuple of the image's and the output's elements.
template <typename Types>
class FilterTest : public ::testing::Test {
 protected:
  using In = std::tuple_element_t<0, Types>;
  using Out = std::tuple_element_t<1, Types>;
  void SetUp() override { GPUCALL_SKIP_WITHOUT_GPU(); }

  static std::vector<std::vector<Out>> Outputs(const Batch<In, Out>& batch, size_t count) {
    std::vector<std::vector<Out>> outputs;
    for (size_t i = 0; i < count; ++i) outputs.push_back(batch.Output(i));
    return outputs;
  }
};

using PixelTypes = ::testing::Types<std::tuple<uint8_t, uint8_t>, std::tuple<uint8_t, float>,
                                    std::tuple<float, uint8_t>, std::tuple<float, float>>;

// Images of different sizes, with empty ones among them.
template <typename In>
struct MixedImages {
  MixedImages() {
    for (int64_t i = 0; i < 70; ++i) {
      sizes.push_back({i * 7 % 50, 1 + i * 13 % 140, 3});
      images.push_back(RandomImage<In>(sizes.back().count(), static_cast<uint32_t>(i)));
    }
  }
  std::vector<Size> sizes;
  std::vector<std::vector<In>> images;
};

}  // namespace gpucall::cuda

#endif  // GPUCALL_TESTS_KERNELS_CUDA_FILTER_FIXTURE_H_
