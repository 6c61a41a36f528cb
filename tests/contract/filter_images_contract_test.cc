// Filters of several images in one array against each image alone.
#include <algorithm>

#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

class SeveralImages : public DeviceTest, public testing::WithParamInterface<FilterKind> {
 protected:
  void ExpectEqualsEachAlone(const FilterAttributes& attributes, const Array& images) {
    const size_t rank = images.type.shape.size();
    const Shape one(images.type.shape.end() - 3, images.type.shape.end());
    std::vector<Array> others;
    if (attributes.kind == FilterKind::kCorrelate) {
      others.push_back(UniformArray(DType::kFloat32, {3, 3}, -1, 1, 9));
    }
    const auto run = [&](const Array& image) {
      std::vector<Array> inputs = {image};
      inputs.insert(inputs.end(), others.begin(), others.end());
      return Run(attributes, inputs);
    };
    const Array together = run(images);
    ASSERT_EQ(together.type.shape, images.type.shape) << rank;
    const int64_t count = ElementCount(one), images_count = images.count() / count;
    const size_t in_bytes = images.bytes.size() / static_cast<size_t>(images_count);
    const size_t out_bytes = together.bytes.size() / static_cast<size_t>(images_count);
    for (int64_t i = 0; i < images_count; ++i) {
      const auto at = [i](const Array& array, size_t bytes) {
        const auto first = array.bytes.begin() + i * static_cast<int64_t>(bytes);
        return std::vector<std::byte>(first, first + static_cast<int64_t>(bytes));
      };
      const Array alone = run({{images.type.dtype, one}, at(images, in_bytes)});
      EXPECT_EQ(at(together, out_bytes), alone.bytes) << "image " << i;
    }
  }
};

TEST_P(SeveralImages, AreFilteredEachByItself) {
  for (const DType dtype : {DType::kUint8, DType::kFloat32, DType::kFloat64, DType::kInt16}) {
    for (const Shape& shape : {Shape{3, 17, 21, 1}, Shape{2, 2, 9, 70, 3}}) {
      for (const int64_t side : {3, 65}) {
        if (side > 3 && GetParam() == FilterKind::kMedian) continue;
        ExpectEqualsEachAlone({.kind = GetParam(), .sigma = {1.5, 1}, .size = {side, side}},
                              UniformArray(dtype, shape, 0, 200, 1));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SeveralImages,
                         testing::Values(FilterKind::kGaussian, FilterKind::kBox,
                                         FilterKind::kSobel, FilterKind::kMedian,
                                         FilterKind::kCorrelate, FilterKind::kMinimum,
                                         FilterKind::kWhiteTophat));

TEST_F(DeviceTest, NoImagesOfSeveral) {
  for (const Shape& shape : {Shape{0, 5, 4, 3}, Shape{2, 0, 4, 3}, Shape{2, 5, 4, 0}}) {
    const Array got = Run(FilterAttributes{.kind = FilterKind::kBox, .size = {3, 3}},
                          {Empty(DType::kUint8, shape)});
    EXPECT_EQ(got.type.shape, shape);
  }
}

}  // namespace
}  // namespace gpucall::contract
