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

using Number = std::complex<long double>;

// Element (row, column) of a matrix of the last two dimensions, transposed first where asked.
Number ElementOf(const Array& array, int64_t matrix, int64_t row, int64_t column, bool transpose) {
  const Shape& shape = array.type.shape;
  const int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1];
  if (transpose) std::swap(row, column);
  return array.number(matrix * rows * columns + row * columns + column);
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

// Of a sum of products in the dtype, and of what it is rounded to in the end.
long double SumUnit(DType dtype) {
  if (IsInteger(dtype)) return 0;
  const size_t bytes = ElementSize(dtype) / (KindOf(dtype) == DTypeKind::kComplex ? 2 : 1);
  return bytes == 8 ? 0x1p-53L : 0x1p-24L;
}
long double ResultUnit(DType dtype) {
  if (dtype == DType::kFloat16) return 0x1p-11L;
  return dtype == DType::kBfloat16 ? 0x1p-8L : 0;
}

void Check(const MatMulCase& test, const Array& a, const Array& b, const Array& got) {
  ASSERT_EQ(got.type.shape, test.result);
  const int64_t n = test.result.back(), m = test.result[test.result.size() - 2];
  const int64_t k = test.a[test.a.size() - (test.attributes.transpose_a ? 2 : 1)];
  const long double unit = SumUnit(a.type.dtype) * static_cast<long double>(2 * k + 2);
  for (int64_t i = 0; i < got.count(); ++i) {
    const int64_t matrix = i / (m * n), row = i / n % m, column = i % n;
    Number sum = 0;
    long double magnitude = 0;
    for (int64_t x = 0; x < k; ++x) {
      const Number term =
          ElementOf(a, MatrixOf(matrix, test.a, test.result), row, x, test.attributes.transpose_a) *
          ElementOf(b, MatrixOf(matrix, test.b, test.result), x, column,
                    test.attributes.transpose_b);
      sum += term;
      magnitude += std::abs(term);
    }
    // Every one of k products and sums may be off by half a unit in the last place.
    ASSERT_LE(std::abs(got.number(i) - sum),
              unit * magnitude + ResultUnit(got.type.dtype) * std::abs(sum))
        << i;
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
  const double low = KindOf(dtype) == DTypeKind::kUnsigned ? 0 : -2;
  const Array a = UniformArray(dtype, test.a, low, 2, 1),
              b = UniformArray(dtype, test.b, low, 1, 2);
  MatMulAttributes attributes = test.attributes;
  if (IsInteger(dtype)) attributes.output_dtype = DType::kInt32;
  Check(test, a, b, Run(attributes, {a, b}));
}
std::string CaseName(const testing::TestParamInfo<MatMulContract::ParamType>& info) {
  const auto& [test, dtype] = info.param;
  return absl::StrCat(absl::StrJoin(test.a, "x"), test.attributes.transpose_a ? "t" : "", "_by_",
                      absl::StrJoin(test.b, "x"), test.attributes.transpose_b ? "t" : "", "_",
                      DTypeName(dtype));
}
INSTANTIATE_TEST_SUITE_P(
    All, MatMulContract,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values(DType::kUint8, DType::kInt8, DType::kInt64, DType::kFloat16,
                                     DType::kBfloat16, DType::kFloat32, DType::kFloat64,
                                     DType::kComplex64, DType::kComplex128)),
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

TEST_F(DeviceTest, IntegerProductsWrap) {
  const Array a = UniformArray(DType::kInt8, {70, 130}, -128, 127, 1);
  const Array b = UniformArray(DType::kInt8, {130, 90}, -128, 127, 2);
  const Array wide = Run(MatMulAttributes{.output_dtype = DType::kInt32}, {a, b});
  for (const DType dtype : {DType::kInt8, DType::kUint16, DType::kInt64}) {
    EXPECT_TRUE(SameElements(Run(MatMulAttributes{.output_dtype = dtype}, {a, b}),
                             Run(CastAttributes{dtype}, {wide})))
        << DTypeName(dtype);
  }
  EXPECT_TRUE(
      SameElements(Run(MatMulAttributes{}, {a, b}), Run(CastAttributes{DType::kInt8}, {wide})));
}

// Of sizes that tensor cores take, transposed in every way, of one b for all and of each its own.
TEST_F(DeviceTest, LargeInt8ProductsAreExact) {
  for (int i = 0; i < 8; ++i) {
    const bool transpose_a = i % 2 == 1, transpose_b = i / 2 % 2 == 1, shares_b = i / 4 == 1;
    MatMulAttributes attributes = {.transpose_a = transpose_a, .transpose_b = transpose_b};
    Shape b_shape = transpose_b ? Shape{3, 80, 208} : Shape{3, 208, 80};
    if (shares_b) b_shape.erase(b_shape.begin());
    const Array a = UniformArray(
        DType::kInt8, transpose_a ? Shape{3, 208, 144} : Shape{3, 144, 208}, -128, 127, 1);
    const Array b = UniformArray(DType::kInt8, b_shape, -128, 127, 2);
    attributes.output_dtype = DType::kInt32;
    const Array got = Run(attributes, {a, b});
    attributes.output_dtype = DType::kInt64;
    const Array wanted = Run(attributes, {a, b});
    EXPECT_TRUE(SameElements(got, Run(CastAttributes{DType::kInt32}, {wanted}))) << i;
  }
}

// What a vector gives is a row or a column of what a matrix does.
TEST_F(DeviceTest, VectorsAreRowsAndColumns) {
  for (const DType dtype : {DType::kInt32, DType::kFloat16, DType::kFloat64}) {
    const Array row = UniformArray(dtype, {1, 40}, 0, 3, 1), vector = {{dtype, {40}}, row.bytes};
    const Array b = UniformArray(dtype, {3, 40, 5}, 0, 3, 2);
    const Array product = Run(MatMulAttributes{}, {row, b}),
                got = Run(MatMulAttributes{}, {vector, b});
    EXPECT_EQ(got.type, (TensorType{dtype, {3, 5}}));
    EXPECT_EQ(got.bytes, product.bytes);
    const Array last = Run(MatMulAttributes{.transpose_a = true}, {b, vector});
    EXPECT_EQ(last.type, (TensorType{dtype, {3, 5}}));
    EXPECT_EQ(Run(MatMulAttributes{}, {vector, vector}).type, (TensorType{dtype, {}}));
  }
}

class MatMulSums : public DeviceTest, public testing::WithParamInterface<DType> {};

// alpha, c that broadcasts in every way, beta, bias and relu, of small whole numbers: exact.
TEST_P(MatMulSums, AreAddedTo) {
  const DType dtype = GetParam();
  const Array a = UniformArray(dtype, {2, 9, 4}, 0, 2, 1), b = UniformArray(dtype, {4, 7}, 0, 2, 2);
  const auto whole = [&](const Array& array) {
    return Run(CastAttributes{dtype}, {Run(CastAttributes{DType::kInt8}, {array})});
  };
  const Array x = whole(a), y = whole(b), bias = whole(UniformArray(dtype, {7}, 0, 3, 3));
  const Array product = Run(MatMulAttributes{}, {x, y});
  const bool has_relu = KindOf(dtype) != DTypeKind::kComplex;
  for (const Shape& shape :
       std::vector<Shape>{{}, {7}, {1, 7}, {9, 1}, {9, 7}, {2, 1, 1}, {2, 9, 7}, {2, 1, 7}}) {
    const Array c = whole(UniformArray(dtype, shape, 0, 3, 4));
    MatMulAttributes attributes = {.alpha = 2,
                                   .beta = 3,
                                   .addend = true,
                                   .bias = true,
                                   .activation = has_relu ? Activation::kRelu : Activation::kNone};
    if (KindOf(dtype) != DTypeKind::kUnsigned) attributes.alpha = -2;
    const Array got = Run(attributes, {x, y, c, bias});
    Array wide_c = Run(ElementwiseOp::kSubtract, {product, product});
    wide_c = Run(ElementwiseOp::kAdd, {wide_c, c});
    for (int64_t i = 0; i < got.count(); ++i) {
      const Number sum = static_cast<long double>(attributes.alpha) * product.number(i) +
                         3.0L * wide_c.number(i) + bias.number(i % 7);
      const Number wanted = has_relu && sum.real() < 0 ? Number(0) : sum;
      ASSERT_EQ(got.number(i), wanted) << ShapeString(shape) << " " << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, MatMulSums,
                         testing::Values(DType::kUint8, DType::kInt8, DType::kInt64,
                                         DType::kFloat16, DType::kBfloat16, DType::kFloat32,
                                         DType::kFloat64, DType::kComplex64, DType::kComplex128),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

// Products that lie half-way between two halves: rounded before c is added, they would lose it.
TEST_F(DeviceTest, HalfProductsAreRoundedOnceWithWhatIsAdded) {
  for (const auto& [dtype, big] :
       {std::pair(DType::kFloat16, 2048.0f), std::pair(DType::kBfloat16, 256.0f)}) {
    const auto half = [&, to = dtype](const Shape& shape, const std::vector<float>& elements) {
      return Run(CastAttributes{to}, {ArrayOf<float>(shape, elements)});
    };
    const Array a = half({2, 1, 2}, {big, 1, big, 1}), b = half({2, 3}, {1, 1, 1, 1, 1, 1});
    const MatMulAttributes with_c = {.addend = true}, with_bias = {.bias = true};
    for (const Array& got : {Run(with_c, {a, b, half({1, 1}, {1})}),
                             Run(with_c, {a, b, half({2, 1, 3}, {1, 1, 1, 1, 1, 1})}),
                             Run(with_bias, {a, b, half({3}, {1, 1, 1})})}) {
      for (int64_t i = 0; i < got.count(); ++i) {
        EXPECT_EQ(got.number(i).real(), big + 2) << DTypeName(dtype) << " " << i;
      }
    }
  }
}

TEST_F(DeviceTest, ProductsInABatchAreThoseAlone) {
  MatMulAttributes attributes = {
      .alpha = 0.5, .addend = true, .bias = true, .activation = Activation::kRelu};
  std::vector<Call> calls;
  for (unsigned i = 0; i < 5; ++i) {
    const int64_t m = i < 3 ? 12 : 5;
    calls.push_back({ProgramOf(attributes, 4),
                     {UniformArray(DType::kFloat32, {m, 33}, -1, 1, i),
                      UniformArray(DType::kFloat32, {33, 8}, -1, 1, 10 + i),
                      UniformArray(DType::kFloat32, {m, 8}, -1, 1, 20 + i),
                      UniformArray(DType::kFloat32, {8}, -1, 1, 30 + i)}});
  }
  const std::vector<Results> together = RunBatch(calls);
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(together[i].ok()) << together[i].status();
    EXPECT_TRUE(SameElements((*together[i])[0], Run(calls[i])[0])) << i;
  }
}

}  // namespace
}  // namespace gpucall::contract
