#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "gtest/gtest.h"
#include "kernels/cuda/matmul.h"
#include "tests/testing/device_array.h"

namespace gpucall::cuda {
namespace {

using Shape = MatMulShape;

template <typename T>
std::vector<T> RandomValues(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> distribution(-1, 1);
  std::vector<T> values(count);
  for (T& value : values) value = distribution(random);
  return values;
}

template <typename T>
class MatMulTest : public ::testing::Test {
 protected:
  static constexpr bool kIsDouble = sizeof(T) == 8;

  void SetUp() override {
    GPUCALL_SKIP_WITHOUT_GPU();
    ASSERT_EQ(cublasLtCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    workspace_.emplace(MatMul::kWorkspaceBytes);
    matmul_.emplace(handle_, workspace_->data());
  }
  void TearDown() override {
    if (handle_ != nullptr) {
      EXPECT_EQ(cublasLtDestroy(handle_), CUBLAS_STATUS_SUCCESS);
    }
  }

  Shape ShapeOf(int64_t m, int64_t n, int64_t k, bool transpose_a = false,
                bool transpose_b = false) {
    return {kIsDouble ? Shape::Type::kFloat64 : Shape::Type::kFloat32,
            m,
            n,
            k,
            transpose_a,
            transpose_b};
  }

  std::vector<T> Run(const Shape& shape, const std::vector<T>& a, const std::vector<T>& b,
                     int64_t count, int64_t stride_a, int64_t stride_b) {
    const DeviceArray<T> device_a(a), device_b(b);
    const DeviceArray<T> c(static_cast<size_t>(count * shape.m * shape.n));
    EXPECT_EQ(matmul_->Run(shape,
                           {device_a.data(), device_b.data(), c.data(), stride_a, stride_b,
                            shape.m * shape.n, count},
                           nullptr),
              CUBLAS_STATUS_SUCCESS);
    return c.Read();
  }

  // |error| <= k * epsilon * sum |a * b|, the bound of any order of summation.
  static void ExpectProduct(const Shape& s, const T* a, const T* b, const T* c) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t l = 0; l < s.k; ++l) {
          const double product = double{a[s.transpose_a ? l * s.m + i : i * s.k + l]} *
                                 double{b[s.transpose_b ? j * s.k + l : l * s.n + j]};
          sum += product;
          magnitude += std::abs(product);
        }
        const double bound =
            static_cast<double>(s.k) * magnitude * double{std::numeric_limits<T>::epsilon()};
        ASSERT_LE(std::abs(double{c[i * s.n + j]} - sum), bound) << "row " << i << " column " << j;
      }
    }
  }

  cublasLtHandle_t handle_ = nullptr;
  std::optional<DeviceArray<std::byte>> workspace_;
  std::optional<MatMul> matmul_;
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MatMulTest, Types);

TYPED_TEST(MatMulTest, SizesAndTransposes) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                                   {1, 7, 5},
                                                                   {7, 1, 5},
                                                                   {3, 5, 1},
                                                                   {17, 13, 31},
                                                                   {64, 64, 64},
                                                                   {129, 257, 65},
                                                                   {1, 300, 1000},
                                                                   {5, 3, 4097}}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << m << " x " << n << " x " << k << " " << transpose_a << transpose_b);
        const Shape shape = this->ShapeOf(m, n, k, transpose_a, transpose_b);
        const auto a = RandomValues<TypeParam>(m * k, 1), b = RandomValues<TypeParam>(k * n, 2);
        const auto c = this->Run(shape, a, b, 1, 0, 0);
        this->ExpectProduct(shape, a.data(), b.data(), c.data());
      }
    }
  }
}

TYPED_TEST(MatMulTest, InnerSizeZeroGivesZeros) {
  const auto c = this->Run(this->ShapeOf(3, 5, 0), {}, {}, 4, 0, 0);
  EXPECT_EQ(c, std::vector<TypeParam>(60, 0));
}

TYPED_TEST(MatMulTest, OuterSizeZeroDoesNothing) {
  EXPECT_TRUE(this->Run(this->ShapeOf(0, 5, 3), {}, std::vector<TypeParam>(15), 2, 0, 0).empty());
}

// Bits, for one product in each place of a batch, and alone.
TYPED_TEST(MatMulTest, BatchDoesNotChangeBits) {
  for (const int64_t count : {2, 7, 64, 200}) {
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
             {64, 64, 64}, {3, 5, 7}, {1, 64, 512}, {100, 1, 33}, {31, 33, 1025}}) {
      SCOPED_TRACE(::testing::Message() << count << " of " << m << " x " << n << " x " << k);
      const Shape shape = this->ShapeOf(m, n, k);
      const auto a = RandomValues<TypeParam>(count * m * k, 3);
      const auto b = RandomValues<TypeParam>(count * k * n, 4);
      const auto c = this->Run(shape, a, b, count, m * k, k * n);
      for (const int64_t i : {int64_t{0}, count / 2, count - 1}) {
        const auto alone = this->Run(shape, {a.begin() + i * m * k, a.begin() + (i + 1) * m * k},
                                     {b.begin() + i * k * n, b.begin() + (i + 1) * k * n}, 1, 0, 0);
        ASSERT_EQ(std::memcmp(alone.data(), c.data() + i * m * n, sizeof(TypeParam) * m * n), 0)
            << "product " << i;
      }
      this->ExpectProduct(shape, a.data(), b.data(), c.data());
    }
  }
}

TYPED_TEST(MatMulTest, StrideZeroRepeatsAnOperand) {
  const Shape shape = this->ShapeOf(9, 11, 13);
  const auto a = RandomValues<TypeParam>(9 * 13, 5), b = RandomValues<TypeParam>(3 * 13 * 11, 6);
  const auto c = this->Run(shape, a, b, 3, 0, 13 * 11);
  for (int i = 0; i < 3; ++i) {
    this->ExpectProduct(shape, a.data(), b.data() + i * 13 * 11, c.data() + i * 9 * 11);
  }
}

TYPED_TEST(MatMulTest, MoreProductsThanOneCallTakes) {
  constexpr int64_t kCount = 70000;
  const Shape shape = this->ShapeOf(2, 2, 2);
  const auto a = RandomValues<TypeParam>(4 * kCount, 7), b = RandomValues<TypeParam>(4 * kCount, 8);
  const auto c = this->Run(shape, a, b, kCount, 4, 4);
  for (int64_t i = 0; i < kCount; i += 997) {
    this->ExpectProduct(shape, a.data() + 4 * i, b.data() + 4 * i, c.data() + 4 * i);
  }
  this->ExpectProduct(shape, a.data() + 4 * kCount - 4, b.data() + 4 * kCount - 4,
                      c.data() + 4 * kCount - 4);
}

// Rounding operands to TF32 would err by about 2^-11.
TEST(MatMulFloat32, IsNotTf32) {
  GPUCALL_SKIP_WITHOUT_GPU();
  cublasLtHandle_t handle = nullptr;
  ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  {
    const DeviceArray<std::byte> workspace(MatMul::kWorkspaceBytes);
    MatMul matmul(handle, workspace.data());
    constexpr int64_t kSide = 512;
    const float value = 1 + std::ldexp(1.0f, -13);  // TF32 rounds it to 1
    const DeviceArray<float> a(std::vector<float>(kSide * kSide, value));
    const DeviceArray<float> c(kSide * kSide);
    ASSERT_EQ(matmul.Run({Shape::Type::kFloat32, kSide, kSide, kSide},
                         {.a = a.data(), .b = a.data(), .c = c.data()}, nullptr),
              CUBLAS_STATUS_SUCCESS);
    for (const float sum : c.Read()) ASSERT_NEAR(sum, kSide * double{value} * value, 0.03);
  }
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

}  // namespace
}  // namespace gpucall::cuda
