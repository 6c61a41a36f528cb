#include "gpucall/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpucall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Tensor, HoldsElementsRowMajor) {
  const absl::StatusOr<Tensor> tensor = Tensor::From<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->dtype(), DType::kInt32);
  EXPECT_THAT(tensor->shape(), ElementsAre(2, 3));
  EXPECT_EQ(tensor->count(), 6);
  EXPECT_EQ(tensor->bytes().size(), 24u);
  EXPECT_THAT(*tensor->as<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Tensor, ScalarHasNoDimensions) {
  const Tensor tensor = Tensor::Scalar(std::complex<double>(1, -2));
  EXPECT_EQ(tensor.dtype(), DType::kComplex128);
  EXPECT_TRUE(tensor.shape().empty());
  EXPECT_EQ(tensor.count(), 1);
  EXPECT_EQ((*tensor.as<std::complex<double>>())[0], std::complex<double>(1, -2));
}

TEST(Tensor, DefaultIsEmpty) {
  const Tensor tensor;
  EXPECT_EQ(tensor.count(), 0);
  EXPECT_THAT(tensor.shape(), ElementsAre(0));
}

TEST(Tensor, EmptyDimensions) {
  const absl::StatusOr<Tensor> tensor = Tensor::From<float>({0, 3}, {});
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->count(), 0);
  EXPECT_TRUE(tensor->as<float>()->empty());
}

TEST(Tensor, RefusesAnotherNumberOfElements) {
  const absl::Status status = Tensor::From<float>({2, 3}, {1, 2}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("(2, 3) of float32 needs 24 bytes of elements, got 8"));
}

TEST(Tensor, RefusesShapesThatCannotBe) {
  EXPECT_THAT(Tensor::From<float>({-1}, {}).status().message(), HasSubstr("-1"));
  // The product is 2^64: 0 if it wrapped.
  EXPECT_EQ(Tensor::From<uint8_t>({int64_t{1} << 32, int64_t{1} << 32}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Tensor::FromBytes(DType::kUnspecified, {0}, "").ok());
}

TEST(Tensor, UninitializedIsFilledByItsOwner) {
  absl::StatusOr<Tensor> tensor = Tensor::Uninitialized(DType::kUint16, {2, 1});
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->count(), 2);
  std::string("\1\0\2\0", 4).copy(tensor->mutable_data(), 4);
  EXPECT_THAT(*tensor->as<uint16_t>(), ElementsAre(1, 2));
  EXPECT_EQ(Tensor::Uninitialized(DType::kUint8, {0})->count(), 0);
  EXPECT_EQ(Tensor::Uninitialized(DType::kUint8, {-1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const absl::Status huge = Tensor::Uninitialized(DType::kUint8, {int64_t{1} << 62}).status();
  EXPECT_EQ(huge.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(huge.message(), HasSubstr("4611686018427387904 bytes"));
}

TEST(Tensor, CopiesAreApartAndMovesLeaveNothing) {
  Tensor original = Tensor::From<int32_t>({1, 2, 3});
  const Tensor copy = original;
  original.mutable_data()[0] = 9;
  EXPECT_THAT(*copy.as<int32_t>(), ElementsAre(1, 2, 3));
  const Tensor moved = std::move(original);
  EXPECT_THAT(*moved.as<int32_t>(), ElementsAre(9, 2, 3));
  EXPECT_EQ(original.bytes(), "");  // NOLINT: what a move leaves is the point
  original = copy;
  EXPECT_THAT(*original.as<int32_t>(), ElementsAre(1, 2, 3));
  const Tensor none, copy_of_none = none;
  EXPECT_EQ(copy_of_none.count(), 0);
}

TEST(Tensor, RefusesAnotherElementType) {
  const absl::Status status = Tensor::Scalar(1.0f).as<int32_t>().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("float32"));
  EXPECT_THAT(status.message(), HasSubstr("int32"));
}

TEST(Tensor, ElementsAreAlignedAlsoWhenMoved) {
  std::vector<Tensor> tensors;
  for (int count : {0, 1, 2, 1000}) {
    tensors.push_back(Tensor::From<double>(std::vector<double>(count)));
  }
  for (const Tensor& tensor : tensors) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes().data()) % alignof(double), 0u);
  }
}

TEST(TensorRef, PointsAtTheCallersMemory) {
  const std::vector<float> elements = {1, 2, 3, 4};
  const TensorRef ref({2, 2}, absl::MakeConstSpan(elements));
  EXPECT_EQ(ref.dtype(), DType::kFloat32);
  EXPECT_THAT(ref.shape(), ElementsAre(2, 2));
  EXPECT_EQ(static_cast<const void*>(ref.bytes().data()), elements.data());
  EXPECT_EQ(ref.bytes().size(), 16u);
  EXPECT_THAT(TensorRef(absl::MakeConstSpan(elements)).shape(), ElementsAre(4));
}

TEST(DType, SizesAndNames) {
  EXPECT_EQ(ElementSize(DType::kBfloat16), 2u);
  EXPECT_EQ(DTypeName(DType::kBfloat16), "bfloat16");
  EXPECT_EQ(ElementSize(kDTypeOf<std::complex<float>>), sizeof(std::complex<float>));
  EXPECT_EQ(DTypeName(kDTypeOf<uint64_t>), "uint64");
  EXPECT_EQ(ElementSize(DType::kUnspecified), 0u);
}

}  // namespace
}  // namespace gpucall
