// CUDA minima and maxima against their CPU twin: equal bits.
#include <cstring>

#include "tests/kernels/cuda/filter_fixture.h"

namespace gpucall::cuda {
namespace {

template <typename Types>
class ExtremeTest : public FilterTest<Types> {
 protected:
  using typename FilterTest<Types>::In;
  using typename FilterTest<Types>::Out;

  std::vector<std::vector<Out>> Run(Extreme extreme, const FilterWindow& window,
                                    const std::vector<Size>& sizes,
                                    const std::vector<std::vector<In>>& images) {
    const FilterShape shape = ShapeOf<In, Out>(window, sizes);
    if (ExtremeFits(shape)) {
      const Batch<In, Out> batch(window, ExtremeTile(shape), sizes, images, {});
      EXPECT_EQ(LaunchExtreme(batch.get(), extreme, nullptr), cudaSuccess);
      return this->Outputs(batch, sizes.size());
    }
    std::vector<std::vector<Out>> outputs;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Batch<In, Out> batch(window, {1, 1}, {sizes[i]}, {images[i]}, {});
      const DeviceArray<In> scratch(sizes[i].count());
      EXPECT_EQ(LaunchExtremePasses(batch.get(), extreme, scratch.data(), nullptr), cudaSuccess);
      outputs.push_back(batch.Output(0));
    }
    return outputs;
  }

  void ExpectEqual(const FilterWindow& window, const Size& size, const std::vector<In>& image) {
    for (const Extreme extreme : {Extreme::kMinimum, Extreme::kMaximum}) {
      std::vector<Out> expected(size.count());
      cpu::ExtremeFilter(CpuImage(image, size), CpuWindow(window),
                         static_cast<cpu::Extreme>(extreme), {expected.data(), kElement<Out>});
      const std::vector<Out> got = Run(extreme, window, {size}, {image})[0];
      for (size_t i = 0; i < got.size(); ++i) {
        if (expected[i] != expected[i]) {
          ASSERT_TRUE(got[i] != got[i]) << "element " << i;
        } else {
          ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(Out)), 0)
              << "element " << i << ": " << double(got[i]) << ", not " << double(expected[i]);
        }
      }
    }
  }
};
TYPED_TEST_SUITE(ExtremeTest, PixelTypes);

TYPED_TEST(ExtremeTest, EqualsItsCpuTwin) {
  using In = typename TestFixture::In;
  for (const auto& [rows, columns] :
       std::vector<std::array<int, 2>>{{1, 1}, {2, 2}, {1, 5}, {4, 3}, {21, 33}, {3, 3}}) {
    for (const Size& size : kSizes) {
      for (const Border border : kBorders) {
        SCOPED_TRACE(::testing::Message()
                     << rows << "x" << columns << " over " << size << " border " << int(border));
        ASSERT_NO_FATAL_FAILURE(this->ExpectEqual(WindowOf(rows, columns, border), size,
                                                  RandomImage<In>(size.count(), 6)));
      }
    }
  }
}

TYPED_TEST(ExtremeTest, AroundTheMiddle) {
  using In = typename TestFixture::In;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kValues[] = {0.0f, -0.0f, kInfinity, -kInfinity, std::nanf(""), -std::nanf("")};
  for (const int side : {3, 5, 7, 9, 11, 13, 15, 17}) {
    for (const Size& size :
         {Size{300, 1500, 1}, {130, 640, 3}, {90, 512, 4}, {40, 2049, 1}, {2, 1024, 1}}) {
      for (const Border border : {Border::kMirror, Border::kConstant}) {
        FilterWindow window = WindowOf(side, side, border);
        window.columns_before = side / 2;
        SCOPED_TRACE(::testing::Message() << side << " over " << size << " border " << int(border));
        auto image = RandomImage<In>(size.count(), 3);
        if constexpr (!kIsUint8<In>) {
          for (size_t i = 0; i < image.size(); i += 997) image[i] = kValues[i % 6];
        }
        ASSERT_NO_FATAL_FAILURE(this->ExpectEqual(window, size, image));
      }
    }
  }
}

// Bits, of images in one launch.
TYPED_TEST(ExtremeTest, BatchDoesNotChangeBits) {
  const MixedImages<typename TestFixture::In> mixed;
  FilterWindow window = WindowOf(5, 5, Border::kMirror);
  window.columns_before = 2;
  const auto batch = this->Run(Extreme::kMaximum, window, mixed.sizes, mixed.images);
  for (size_t i = 0; i < mixed.sizes.size(); ++i) {
    if (mixed.sizes[i].count() == 0) continue;
    SCOPED_TRACE(::testing::Message() << "image " << i << " of " << mixed.sizes[i]);
    EXPECT_EQ(batch[i],
              this->Run(Extreme::kMaximum, window, {mixed.sizes[i]}, {mixed.images[i]})[0]);
  }
}

}  // namespace
}  // namespace gpucall::cuda
