// The CUDA bilateral filter against its CPU twin.
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/image.h"
#include "kernels/cuda/image.h"
#include "tests/testing/device_array.h"

namespace gpucall::cuda {
namespace {

template <typename T>
class BilateralTest : public ::testing::Test {
 protected:
  static constexpr bool kFloat = std::is_same_v<T, float>;
  void SetUp() override { GPUCALL_SKIP_WITHOUT_GPU(); }

  // Circles of `radius`; weights of differences, too, of uint8.
  static std::vector<double> TableOf(int radius, int channels) {
    std::vector<double> table;
    for (int i = -radius; i <= radius; ++i) {
      for (int j = -radius; j <= radius; ++j) {
        const int squared = i * i + j * j;
        table.push_back(squared > radius * radius ? 0 : std::exp(-squared / 18.0));
      }
    }
    for (int i = 0; !kFloat && i <= 255 * channels; ++i) table.push_back(std::exp(-i * i / 3e3));
    return table;
  }

  static void ExpectEqual(const image::Sizes& sizes, int radius, image::Border border) {
    const auto count =
        static_cast<size_t>(sizes.images * sizes.rows * sizes.columns * sizes.channels);
    std::mt19937 random(static_cast<uint32_t>(count));
    std::vector<T> x(count), expected(count);
    for (T& element : x) element = static_cast<T>(random() % 256 / (kFloat ? 256.0 : 1.0));
    const std::vector<double> table = TableOf(radius, static_cast<int>(sizes.channels));
    image::Arguments a;
    a.in = a.out_sizes = sizes;
    a.option = radius;
    a.border = border;
    a.numbers[0] = -4;
    a.numbers[1] = 0.5;
    a.x = x.data();
    a.out = expected.data();
    a.table = table.data();
    const auto element = kFloat ? image::Element::kFloat32 : image::Element::kUint8;
    cpu::Bilateral(a, element);
    const DeviceArray<T> device_x(x), device_out(count);
    const DeviceArray<double> device_table(table);
    a.x = device_x.data();
    a.out = device_out.data();
    a.table = device_table.data();
    ASSERT_EQ(LaunchBilateral(a, element, nullptr), cudaSuccess);
    const std::vector<T> got = device_out.Read();
    for (size_t i = 0; i < count; ++i) {
      if (kFloat) {
        ASSERT_NEAR(got[i], expected[i], 2e-6) << "element " << i;
      } else {
        ASSERT_EQ(got[i], expected[i]) << "element " << i;
      }
    }
  }
};
using Types = ::testing::Types<uint8_t, float>;
TYPED_TEST_SUITE(BilateralTest, Types);

// Less than and more than a tile; radii of tiles, and larger.
TYPED_TEST(BilateralTest, EqualsItsCpuTwin) {
  for (const image::Sizes& sizes : {image::Sizes{1, 1, 1, 1},
                                    {2, 3, 40, 1},
                                    {1, 70, 33, 3},
                                    {3, 33, 100, 1},
                                    {2, 17, 31, 3},
                                    {0, 5, 5, 1}}) {
    for (const int radius : {0, 1, 4, 12, 13}) {
      for (const auto border : {image::Border::kMirror, image::Border::kConstant}) {
        SCOPED_TRACE(::testing::Message()
                     << sizes.images << "x" << sizes.rows << "x" << sizes.columns << "x"
                     << sizes.channels << " radius " << radius << " border " << int(border));
        ASSERT_NO_FATAL_FAILURE(this->ExpectEqual(sizes, radius, border));
      }
    }
  }
}

}  // namespace
}  // namespace gpucall::cuda
