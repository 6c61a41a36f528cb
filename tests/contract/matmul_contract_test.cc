// Matrix products against sums in double precision.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

struct MatMulCase {
  Shape a, b;  // as the operands are passed
  MatMulAttributes attributes;
  Shape result;
};

// Element (row, column) of a matrix of the last two dimensions, transposed first where asked.
double ElementOf(const Array& array, int64_t matrix, int64_t row, int64_t column, bool transpose) {
  const Shape& shape = array.type.shape;
  const int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1];
  if (transpose) std::swap(row, column);
  return array.at(matrix * rows * columns + row * columns + column);
}

// Which matrix of `from` the matrix `index` of a result of batch shape `to` reads.
int64_t MatrixOf(int64_t index, const Shape& from, const Shape& to) {
  int64_t matrix = 0, stride = 1;
  for (size_t d = 2; d < to.size(); ++d) {
    const int64_t size = to[to.size() - 1 - d], place = index % size;
    index /= size;
    if (d >= from.size()) continue;
    const int64_t own = from[from.size() - 1 - d];
    if (own != 1) matrix += place * stride;
    stride *= own;
  }
  return matrix;
}

void Check(const MatMulCase& test, const Array& a, const Array& b, const Array& got) {
  ASSERT_EQ(got.type, (TensorType{a.type.dtype, test.result}));
  const int64_t n = test.result.back(), m = test.result[test.result.size() - 2];
  const int64_t k = test.a[test.a.size() - (test.attributes.transpose_a ? 2 : 1)];
  const double unit = a.type.dtype == DType::kFloat32 ? 6e-8 : 1.2e-16;
  for (int64_t i = 0; i < got.count(); ++i) {
    const int64_t matrix = i / (m * n), row = i / n % m, column = i % n;
    double sum = 0, magnitude = 0;
    for (int64_t x = 0; x < k; ++x) {
      const double term =
          ElementOf(a, MatrixOf(matrix, test.a, test.result), row, x, test.attributes.transpose_a) *
          ElementOf(b, MatrixOf(matrix, test.b, test.result), x, column,
                    test.attributes.transpose_b);
      sum += term;
      magnitude += std::abs(term);
    }
    // Every one of k sums may be off by half a unit in the last place.
    ASSERT_NEAR(got.at(i), sum, unit * static_cast<double>(k + 1) * magnitude) << i;
  }
}

const MatMulCase kCases[] = {
    {{17, 31}, {31, 13}, {}, {17, 13}},
    {{31, 17}, {31, 13}, {true, false}, {17, 13}},
    {{17, 31}, {13, 31}, {false, true}, {17, 13}},
    {{31, 17}, {13, 31}, {true, true}, {17, 13}},
    {{1, 1}, {1, 1}, {}, {1, 1}},
    {{1, 300}, {300, 1}, {}, {1, 1}},
    {{200, 1}, {1, 100}, {}, {200, 100}},
    {{1, 65}, {65, 129}, {}, {1, 129}},
    {{129, 65}, {65, 1}, {}, {129, 1}},
    {{64, 64}, {64, 64}, {}, {64, 64}},
    {{150, 170}, {190, 170}, {false, true}, {150, 190}},
    {{16, 0}, {0, 16}, {}, {16, 16}},
    {{0, 16}, {16, 0}, {true, true}, {16, 16}},
    {{0, 4}, {4, 3}, {}, {0, 3}},
    {{3, 0, 0}, {0, 0}, {}, {3, 0, 0}},
    {{0, 2, 3}, {3, 2}, {}, {0, 2, 2}},
    {{5, 17, 3}, {3, 7}, {}, {5, 17, 7}},
    {{17, 3}, {5, 3, 7}, {}, {5, 17, 7}},
    {{4, 1, 9, 8}, {3, 8, 5}, {}, {4, 3, 9, 5}},
    {{4, 1, 8, 9}, {1, 3, 5, 8}, {true, true}, {4, 3, 9, 5}},
    {{2, 1, 2, 1, 2, 1, 3, 4}, {3, 1, 2, 1, 2, 4, 2}, {}, {2, 3, 2, 2, 2, 2, 3, 2}},
    {{100, 8, 8}, {100, 8, 8}, {}, {100, 8, 8}},
};

class MatMulContract : public DeviceTest,
                       public testing::WithParamInterface<std::tuple<MatMulCase, DType>> {};

TEST_P(MatMulContract, EqualsSums) {
  const auto& [test, dtype] = GetParam();
  const Array a = UniformArray(dtype, test.a, -1, 2, 1), b = UniformArray(dtype, test.b, -2, 1, 2);
  Check(test, a, b, Run(test.attributes, {a, b}));
}
std::string CaseName(const testing::TestParamInfo<MatMulContract::ParamType>& info) {
  const auto& [test, dtype] = info.param;
  return absl::StrCat(absl::StrJoin(test.a, "x"), test.attributes.transpose_a ? "t" : "", "_by_",
                      absl::StrJoin(test.b, "x"), test.attributes.transpose_b ? "t" : "", "_",
                      DTypeName(dtype));
}
INSTANTIATE_TEST_SUITE_P(All, MatMulContract,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values(DType::kFloat32, DType::kFloat64)),
                         CaseName);

TEST_F(DeviceTest, ProductsPropagateNanAndInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Array a = ArrayOf<float>({2, 2}, {std::nanf(""), 1, infinity, 1});
  const Array identity = ArrayOf<float>({2, 2}, {1, 1, 0, 1});
  EXPECT_TRUE(
      SameElements(Run(MatMulAttributes{}, {a, identity}),
                   ArrayOf<float>({2, 2}, {std::nanf(""), std::nanf(""), infinity, infinity})));
}

TEST_F(DeviceTest, ProductsOfOnesAreExact) {
  const Array a = UniformArray(DType::kFloat32, {300, 4096}, 1, 1, 1);
  const Array b = UniformArray(DType::kFloat32, {4096, 200}, 1, 1, 1);
  EXPECT_TRUE(SameElements(Run(MatMulAttributes{}, {a, b}),
                           UniformArray(DType::kFloat32, {300, 200}, 4096, 4096, 1)));
}

TEST_F(DeviceTest, ProductsJoinElementwiseSteps) {
  ProgramBuilder builder(3);
  const uint32_t scaled = builder.Add(ElementwiseOp::kMultiply, {0, 2});
  const uint32_t product = builder.Add(MatMulAttributes{}, {scaled, 1});
  const uint32_t activated = builder.Add(ElementwiseOp::kRelu, {product});
  const Array a = UniformArray(DType::kFloat32, {33, 20}, -1, 1, 1);
  const Array b = UniformArray(DType::kFloat32, {20, 9}, -1, 1, 2);
  const Array factor = ArrayOf<float>({}, {2});
  const auto got = Run({builder.Returning({activated, scaled}), {a, b, factor}});
  const Array doubled = Run(ElementwiseOp::kAdd, {a, a});
  EXPECT_TRUE(SameElements(got[1], doubled));
  EXPECT_TRUE(
      SameElements(got[0], Run(ElementwiseOp::kRelu, {Run(MatMulAttributes{}, {doubled, b})})));
}

}  // namespace
}  // namespace gpucall::contract
