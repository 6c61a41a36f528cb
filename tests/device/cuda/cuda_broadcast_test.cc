#include "server/device/cuda_broadcast.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpucall {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BroadcastStrides, AreZeroWhereAnOperandIsRepeated) {
  EXPECT_THAT(BroadcastStrides({2, 3}, {2, 3}), ElementsAre(3, 1));
  EXPECT_THAT(BroadcastStrides({3}, {2, 3}), ElementsAre(0, 1));
  EXPECT_THAT(BroadcastStrides({2, 1}, {2, 3}), ElementsAre(1, 0));
  EXPECT_THAT(BroadcastStrides({5, 1, 3}, {7, 5, 2, 3}), ElementsAre(0, 3, 0, 1));
  EXPECT_THAT(BroadcastStrides({}, {2, 3}), ElementsAre(0, 0));
  EXPECT_THAT(BroadcastStrides({}, {}), IsEmpty());
}

StridedShape ShapeOf(std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> operands) {
  StridedShape shape = {sizes, {}};
  for (const auto& operand : operands) shape.strides.push_back(BroadcastStrides(operand, sizes));
  return shape;
}

TEST(Collapse, JoinsDimensionsThatAllOperandsPassEvenly) {
  const StridedShape shape = Collapse(ShapeOf({2, 3, 4, 5}, {{4, 5}, {2, 3, 4, 5}}));
  EXPECT_THAT(shape.sizes, ElementsAre(6, 20));
  EXPECT_THAT(shape.strides, ElementsAre(ElementsAre(0, 1), ElementsAre(20, 1)));
}

TEST(Collapse, KeepsDimensionsApartThatOneOperandDoesNotPassEvenly) {
  const StridedShape shape = Collapse(ShapeOf({2, 3, 4}, {{2, 1, 4}, {1, 3, 1}}));
  EXPECT_THAT(shape.sizes, ElementsAre(2, 3, 4));
  EXPECT_THAT(shape.strides, ElementsAre(ElementsAre(4, 0, 1), ElementsAre(0, 1, 0)));
}

TEST(Collapse, LeavesOutSizeOne) {
  const StridedShape shape = Collapse(ShapeOf({1, 7, 1, 2, 1}, {{7, 1, 1, 1}}));
  EXPECT_THAT(shape.sizes, ElementsAre(7, 2));
  EXPECT_THAT(shape.strides, ElementsAre(ElementsAre(1, 0)));
}

TEST(Collapse, OfOneElementHasNoDimensions) {
  const StridedShape shape = Collapse(ShapeOf({1, 1}, {{1}, {}}));
  EXPECT_EQ(shape.rank(), 0);
  EXPECT_THAT(shape.strides, ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(StridedShape, AddsAnOuterDimension) {
  StridedShape shape = ShapeOf({2, 3}, {{3}, {2, 1}});
  shape.AddOuter(9, {100, 0});
  EXPECT_THAT(shape.sizes, ElementsAre(9, 2, 3));
  EXPECT_THAT(shape.strides, ElementsAre(ElementsAre(100, 0, 1), ElementsAre(0, 1, 0)));
}

}  // namespace
}  // namespace gpucall
