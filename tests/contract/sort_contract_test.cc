// Sorts of every dtype, against std::stable_sort of what the elements stand for.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "tests/contract/buffers.h"

namespace gpucall::contract {
namespace {

// The number that a half of `exponent_bits` stands for.
long double HalfOf(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  long double value = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    value = fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                          : std::numeric_limits<long double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<long double>(fraction), 1 - bias - fraction_bits);
  } else {
    value = std::ldexp(static_cast<long double>(fraction + (1 << fraction_bits)),
                       exponent - bias - fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

long double NumberAt(const Array& array, int64_t index) {
  switch (array.type.dtype) {
    case DType::kBool:
      return array.get<uint8_t>(index) != 0;
    case DType::kUint8:
      return array.get<uint8_t>(index);
    case DType::kUint16:
      return array.get<uint16_t>(index);
    case DType::kUint32:
      return array.get<uint32_t>(index);
    case DType::kUint64:
      return array.get<uint64_t>(index);
    case DType::kInt8:
      return array.get<int8_t>(index);
    case DType::kInt16:
      return array.get<int16_t>(index);
    case DType::kInt32:
      return array.get<int32_t>(index);
    case DType::kInt64:
      return array.get<int64_t>(index);
    case DType::kFloat16:
      return HalfOf(array.get<uint16_t>(index), 5);
    case DType::kBfloat16:
      return HalfOf(array.get<uint16_t>(index), 8);
    case DType::kFloat32:
      return array.get<float>(index);
    default:
      return array.get<double>(index);
  }
}

// Any bits, so also NaNs of both signs and subnormals, and many elements that are equal; zeros of
// both signs among them.
Array AnyBits(DType dtype, const Shape& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> pool = {0, ~uint64_t{0} << (8 * ElementSize(dtype) - 1), ~uint64_t{0}, 1};
  for (int i = 0; i < 40; ++i) pool.push_back(random());
  Array array = {{dtype, shape}, {}};
  const size_t size = ElementSize(dtype);
  array.bytes.resize(static_cast<size_t>(array.type.size_bytes()));
  for (int64_t i = 0; i < array.count(); ++i) {
    const uint64_t bits = i % 2 == 0 ? random() : pool[random() % pool.size()];
    std::memcpy(array.bytes.data() + static_cast<size_t>(i) * size, &bits, size);
  }
  return array;
}

// What SortAttributes say of x, element by element.
class Expected {
 public:
  Expected(const SortAttributes& attributes, const Array& x) : attributes_(attributes), x_(x) {
    Shape shape = attributes.axis.has_value() ? x.type.shape : Shape{x.count()};
    const auto rank = static_cast<int64_t>(shape.size());
    const auto d = static_cast<size_t>((attributes.axis.value_or(0) + rank) % rank);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i < d) outer_ *= shape[i];
      if (i > d) inner_ *= shape[i];
    }
    count_ = shape[d];
    shape[d] = kept_ = attributes.count.value_or(count_);
    elements_ = {{x.type.dtype, shape}, {}};
    indices_ = {{DType::kInt64, shape}, {}};
    elements_.bytes.resize(static_cast<size_t>(elements_.type.size_bytes()));
    indices_.bytes.resize(static_cast<size_t>(indices_.type.size_bytes()));
    for (int64_t o = 0; o < outer_; ++o) {
      for (int64_t i = 0; i < inner_; ++i) SortLine(o, i);
    }
  }
  const Array& array() const { return attributes_.indices ? indices_ : elements_; }

 private:
  void SortLine(int64_t o, int64_t i) {
    const auto number = [&](int64_t e) { return (o * count_ + e) * inner_ + i; };
    const auto is_less = [&](int64_t a, int64_t b) {
      const long double x = NumberAt(x_, number(a)), y = NumberAt(x_, number(b));
      return std::isnan(y) ? !std::isnan(x) : x < y;
    };
    std::vector<int64_t> order(static_cast<size_t>(count_));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return attributes_.descending ? is_less(b, a) : is_less(a, b);
    });
    const size_t size = ElementSize(x_.type.dtype);
    for (int64_t r = 0; r < kept_; ++r) {
      const auto to = static_cast<size_t>((o * kept_ + r) * inner_ + i);
      const int64_t index = order[static_cast<size_t>(r)];
      std::memcpy(indices_.bytes.data() + to * sizeof(index), &index, sizeof(index));
      std::memcpy(elements_.bytes.data() + to * size,
                  x_.bytes.data() + static_cast<size_t>(number(index)) * size, size);
    }
  }

  const SortAttributes attributes_;
  const Array& x_;
  int64_t outer_ = 1, count_ = 0, inner_ = 1, kept_ = 0;
  Array elements_, indices_;
};

class SortContract : public DeviceTest, public testing::WithParamInterface<DType> {};

TEST_P(SortContract, IsStableSort) {
  unsigned seed = 0;
  for (const auto& [shape, axis] :
       std::initializer_list<std::pair<Shape, std::optional<int64_t>>>{{{1}, 0},
                                                                       {{300}, -1},
                                                                       {{5, 41}, 1},
                                                                       {{41, 5}, 0},
                                                                       {{3, 17, 4}, -2},
                                                                       {{2, 2000}, 1},
                                                                       {{6, 7}, std::nullopt},
                                                                       {{}, std::nullopt},
                                                                       {{2, 0, 3}, 0},
                                                                       {{2, 0, 3}, 1}}) {
    const Array x = AnyBits(GetParam(), shape, ++seed);
    for (const bool descending : {false, true}) {
      for (const bool indices : {false, true}) {
        const SortAttributes attributes = {
            .axis = axis, .descending = descending, .indices = indices};
        const Array got = Run(attributes, {x});
        const Expected expected(attributes, x);
        EXPECT_EQ(got.type, expected.array().type);
        EXPECT_EQ(got.bytes, expected.array().bytes) << ShapeString(shape) << descending << indices;
      }
    }
  }
}

TEST_P(SortContract, OnlyTheFirstOfTheOrder) {
  const Array x = AnyBits(GetParam(), {3, 500, 2}, 77);
  for (const int64_t count : {0, 1, 7, 60, 100, 499, 500}) {
    for (const bool descending : {false, true}) {
      for (const bool indices : {false, true}) {
        const SortAttributes attributes = {
            .axis = 1, .descending = descending, .indices = indices, .count = count};
        const Array got = Run(attributes, {x});
        const Expected expected(attributes, x);
        EXPECT_EQ(got.type, expected.array().type);
        EXPECT_EQ(got.bytes, expected.array().bytes) << count << descending << indices;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SortContract,
                         testing::Values(DType::kBool, DType::kUint8, DType::kUint16,
                                         DType::kUint32, DType::kUint64, DType::kInt8,
                                         DType::kInt16, DType::kInt32, DType::kInt64,
                                         DType::kFloat16, DType::kBfloat16, DType::kFloat32,
                                         DType::kFloat64),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

using SortBuffers = BufferTest;

TEST_F(SortBuffers, LongLines) {
  for (const Shape& shape : {Shape{1'000'003}, Shape{3, 300'001}, Shape{40'000, 21}}) {
    const Array x = AnyBits(DType::kFloat32, shape, 5);
    for (const bool indices : {false, true}) {
      const SortAttributes attributes = {.axis = -1, .indices = indices};
      const Expected expected(attributes, x);
      EXPECT_TRUE(Run(attributes, {x}).bytes == expected.array().bytes) << ShapeString(shape);
    }
  }
}

TEST_F(SortBuffers, BatchOfSortsIsThemAlone) {
  for (const DType dtype : {DType::kUint8, DType::kFloat32, DType::kFloat64}) {
    for (const bool indices : {false, true}) {
      const SortAttributes attributes = {.axis = 0, .descending = true, .indices = indices};
      std::vector<Call> calls;
      for (const Shape& shape : {Shape{50, 3}, Shape{4}, Shape{50, 3}, Shape{0, 4}, Shape{1, 1},
                                 Shape{6, 1, 700}, Shape{5000}}) {
        calls.push_back({ProgramOf(attributes, 1), {AnyBits(dtype, shape, 9)}});
      }
      const auto batched = RunBatch(calls);
      for (size_t i = 0; i < calls.size(); ++i) {
        ASSERT_TRUE(batched[i].ok()) << batched[i].status();
        const Expected expected(attributes, calls[i].inputs[0]);
        EXPECT_EQ((*batched[i])[0].bytes, expected.array().bytes) << i;
      }
    }
  }
}

// Of a reshape of a resident tensor, beside other steps, with results that stay and that do not.
TEST_F(SortBuffers, InProgramsOfResidents) {
  const Array x = UniformArray(DType::kFloat32, {20, 30}, -9, 9, 3);
  ProgramBuilder builder(1);
  const uint32_t flat =
      builder.Add(RearrangeAttributes{.kind = RearrangeKind::kReshape, .sizes = {-1}}, {0});
  const uint32_t sorted = builder.Add(SortAttributes{.axis = 0}, {flat});
  const uint32_t order = builder.Add(SortAttributes{.axis = 0, .indices = true}, {flat});
  const uint32_t negative = builder.Add(ElementwiseOp::kNegative, {sorted});
  const uint32_t again = builder.Add(SortAttributes{.axis = 0}, {negative});
  const Program program = builder.Returning({sorted, order, again});
  Array line = x;
  line.type.shape = {600};
  const Expected elements({.axis = 0}, line);
  const Expected indices({.axis = 0, .indices = true}, line);
  const Array backwards = Run(ElementwiseOp::kNegative, {elements.array()});
  const Expected reversed({.axis = 0}, backwards);
  for (unsigned mix = 0; mix < 8; ++mix) {
    const Work work = WorkOf(program, {&x}, {{.resident = BufferOf(x)}},
                             {(mix & 1) != 0, (mix & 2) != 0, (mix & 4) != 0});
    std::vector<Execution> batch = {work.execution()};
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    const auto got = [&](size_t i) {
      const Storage& output = batch[0].outputs[i];
      return output.resident ? Read(output.resident) : Bytes(output);
    };
    EXPECT_EQ(got(0), elements.array().bytes) << mix;
    EXPECT_EQ(got(1), indices.array().bytes) << mix;
    EXPECT_EQ(got(2), reversed.array().bytes) << mix;
  }
}

}  // namespace
}  // namespace gpucall::contract
