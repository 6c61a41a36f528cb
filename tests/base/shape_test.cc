#include "server/base/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gpucall {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(absl::Span<const int64_t> shape) {
  auto size = CheckedSizeBytes("input 0", DType::kFloat32, shape);
  return size.ok() ? "ok" : std::string(size.status().message());
}

TEST(ShapeTest, SizesInBytes) {
  EXPECT_EQ(*CheckedSizeBytes("x", DType::kFloat32, {2, 3}), 24);
  EXPECT_EQ(*CheckedSizeBytes("x", DType::kComplex128, {}), 16);
  EXPECT_EQ(*CheckedSizeBytes("x", DType::kBool, {4, 0, 2}), 0);
}

TEST(ShapeTest, RefusesWhatCannotBe) {
  EXPECT_THAT(ErrorOf({-1, 4}), HasSubstr("negative dimension -1"));
  EXPECT_THAT(ErrorOf({-2, -2}), HasSubstr("negative"));
  EXPECT_THAT(ErrorOf({std::numeric_limits<int64_t>::min()}), HasSubstr("negative"));
  EXPECT_THAT(ErrorOf({int64_t{1} << 62, 4}), HasSubstr("2^63"));
  EXPECT_THAT(ErrorOf({int64_t{1} << 62, 4, 0}), HasSubstr("2^63"));  // 0 does not hide an overflow
  EXPECT_THAT(ErrorOf(std::vector<int64_t>(9, 1)), HasSubstr("at most 8"));
  EXPECT_LT(ErrorOf(std::vector<int64_t>(10000, 1)).size(), 1000u);
}

TEST(ShapeTest, Broadcasts) {
  EXPECT_EQ(*BroadcastShapes({3, 1}, {4}), (Shape{3, 4}));
  EXPECT_EQ(*BroadcastShapes({}, {0, 2}), (Shape{0, 2}));
  EXPECT_EQ(*BroadcastShapes({3, 1}, {3, 0}), (Shape{3, 0}));
  auto bad = BroadcastShapes({0, 3}, {2, 3});
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("(0, 3) and (2, 3)"));
}

}  // namespace
}  // namespace gpucall
