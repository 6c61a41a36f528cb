#include "server/store/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpucall {
namespace {

using ::testing::HasSubstr;

const TensorType kMatrix = {DType::kFloat32, {3, 4}};
const TensorType kCube = {DType::kUint8, {2, 3, 4}};

void ExpectView(const absl::StatusOr<ViewType>& view, const Shape& shape, int64_t offset_bytes) {
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->type.shape, shape);
  EXPECT_EQ(view->offset_bytes, offset_bytes);
}

template <typename T>
void ExpectError(const absl::StatusOr<T>& result, absl::StatusCode code, const std::string& part) {
  EXPECT_EQ(result.status().code(), code) << result.status();
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(part));
}

TEST(ViewTest, Reshape) {
  ExpectView(ReshapeView(kMatrix, {12}), {12}, 0);
  ExpectView(ReshapeView(kMatrix, {2, 1, 6}), {2, 1, 6}, 0);
  ExpectView(ReshapeView({DType::kInt32, {}}, {1, 1}), {1, 1}, 0);
  ExpectView(ReshapeView({DType::kInt32, {0, 5}}, {7, 0}), {7, 0}, 0);
  ExpectError(ReshapeView(kMatrix, {5}), absl::StatusCode::kInvalidArgument,
              "(5) has not the 12 elements of (3, 4)");
  ExpectError(ReshapeView(kMatrix, {-1, 12}), absl::StatusCode::kInvalidArgument, "negative");
  ExpectError(ReshapeView(kMatrix, {int64_t{1} << 40, int64_t{1} << 40}),
              absl::StatusCode::kInvalidArgument, "larger than 2^63");
}

TEST(ViewTest, SlicesThatLieTogether) {
  ExpectView(SliceView(kMatrix, {1}, {3}), {2, 4}, 16);
  ExpectView(SliceView(kMatrix, {1, 2}, {2, 4}), {1, 2}, (4 + 2) * 4);
  ExpectView(SliceView(kMatrix, {0, 0}, {3, 4}), {3, 4}, 0);
  ExpectView(SliceView(kMatrix, {}, {}), {3, 4}, 0);
  ExpectView(SliceView(kCube, {1, 2, 1}, {2, 3, 3}), {1, 1, 2}, 12 + 8 + 1);
  ExpectView(SliceView(kCube, {1, 1}, {2, 3}), {1, 2, 4}, 12 + 4);
  ExpectView(SliceView(kMatrix, {1, 3}, {1, 4}), {0, 1}, 0);  // nothing lies anywhere
}

TEST(ViewTest, SlicesThatDoNotLieTogether) {
  ExpectError(SliceView(kMatrix, {0, 0}, {3, 2}), absl::StatusCode::kUnimplemented, "axis 0");
  ExpectError(SliceView(kCube, {0, 1, 0}, {2, 2, 4}), absl::StatusCode::kUnimplemented, "axis 0");
  ExpectError(SliceView(kCube, {0, 0, 2}, {1, 3, 3}), absl::StatusCode::kUnimplemented, "axis 1");
}

TEST(ViewTest, SlicesOutOfBounds) {
  for (const auto& [start, stop] : std::vector<std::pair<Shape, Shape>>{
           {{-1}, {2}}, {{2}, {1}}, {{0}, {4}}, {{0, 0}, {1}}, {{0, 0, 0}, {1, 1, 1}}}) {
    ExpectError(SliceView(kMatrix, start, stop), absl::StatusCode::kInvalidArgument, "slice: ");
  }
}

TEST(ViewTest, Transpose) {
  ExpectView(TransposeView({DType::kFloat32, {1, 5, 1, 2}}, {1, 0, 3, 2}), {5, 1, 2, 1}, 0);
  ExpectView(TransposeView(kMatrix, {0, 1}), {3, 4}, 0);
  ExpectView(TransposeView({DType::kFloat32, {0, 4}}, {1, 0}), {4, 0}, 0);
  ExpectView(TransposeView({DType::kFloat32, {}}, {}), {}, 0);
  ExpectError(TransposeView(kMatrix, {1, 0}), absl::StatusCode::kUnimplemented,
              "axes (1, 0) of (3, 4)");
  for (const std::vector<uint32_t>& axes :
       std::vector<std::vector<uint32_t>>{{0}, {0, 0}, {0, 2}, {0, 1, 2}, {}}) {
    ExpectError(TransposeView(kMatrix, axes), absl::StatusCode::kInvalidArgument, "once");
  }
}

}  // namespace
}  // namespace gpucall
