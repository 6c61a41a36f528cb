// Takes of every element size, against where each element must come from.
#include <algorithm>
#include <string>
#include <tuple>

#include "tests/contract/buffers.h"

namespace gpucall::contract {
namespace {

void ExpectSays(const absl::Status& status, const std::string& part) {
  EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status;
}

// Elements that tell where they were: 1, 2, 3... of any dtype.
Array Numbered(DType dtype, const Shape& shape) {
  Array array = {{dtype, shape}, {}};
  const size_t size = ElementSize(dtype);
  array.bytes.resize(static_cast<size_t>(array.type.size_bytes()));
  for (int64_t i = 0; i < array.count(); ++i) {
    const int64_t number = i + 1;
    std::memcpy(array.bytes.data() + static_cast<size_t>(i) * size, &number,
                std::min(size, sizeof(number)));
  }
  return array;
}

// Of int32 or int64.
Array Indices(DType dtype, const Shape& shape, const std::vector<int64_t>& numbers) {
  Array array = {{dtype, shape}, {}};
  const size_t size = ElementSize(dtype);
  for (const int64_t number : numbers) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
    array.bytes.insert(array.bytes.end(), bytes, bytes + size);
  }
  return array;
}
// Any that are in range, negative ones too.
Array AnyIndices(DType dtype, const Shape& shape, int64_t size, int64_t seed) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < ElementCount(shape); ++i) {
    numbers.push_back((i * 7919 + seed) % (2 * size) - size);
  }
  return Indices(dtype, shape, numbers);
}
int64_t IndexAt(const Array& indices, int64_t at, int64_t size) {
  const int64_t index =
      indices.type.dtype == DType::kInt32 ? indices.get<int32_t>(at) : indices.get<int64_t>(at);
  return index < 0 ? index + size : index;
}

class TakeContract : public BufferTest, public testing::WithParamInterface<DType> {
 protected:
  // That element i of `got` is that of x whose number is `wanted[i]`.
  static void ExpectElements(const Array& got, const Array& x, const std::vector<int64_t>& wanted) {
    const size_t size = ElementSize(x.type.dtype);
    ASSERT_EQ(got.bytes.size(), wanted.size() * size);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(std::memcmp(got.bytes.data() + i * size,
                            x.bytes.data() + static_cast<size_t>(wanted[i]) * size, size),
                0)
          << "element " << i;
    }
  }
};

TEST_P(TakeContract, AnAxisBecomesTheIndices) {
  for (const DType index_dtype : {DType::kInt32, DType::kInt64}) {
    for (const auto& [shape, axis, places] :
         std::initializer_list<std::tuple<Shape, std::optional<int64_t>, Shape>>{
             {{7}, 0, {5}},
             {{7}, -1, {}},
             {{4, 300}, 0, {9}},
             {{300, 4}, -1, {2, 3}},
             {{5, 6, 33}, 1, {70}},
             {{3, 4}, std::nullopt, {3, 2}},
             {{3, 4}, 1, {0}},
             {{0, 4}, 1, {2}}}) {
      const Array x = Numbered(GetParam(), shape);
      int64_t outer = 1, size = x.count(), inner = 1;
      Shape wanted_shape = places;
      if (axis.has_value()) {
        const auto d =
            static_cast<size_t>(*axis < 0 ? *axis + static_cast<int64_t>(shape.size()) : *axis);
        size = shape[d];
        wanted_shape.insert(wanted_shape.begin(), shape.begin(),
                            shape.begin() + static_cast<int64_t>(d));
        for (size_t i = 0; i < d; ++i) outer *= shape[i];
        for (size_t i = d + 1; i < shape.size(); ++i) {
          inner *= shape[i];
          wanted_shape.push_back(shape[i]);
        }
      }
      const Array indices = AnyIndices(index_dtype, places, size, 3);
      std::vector<int64_t> wanted;
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t k = 0; k < indices.count(); ++k) {
          const int64_t index = IndexAt(indices, k, size);
          for (int64_t i = 0; i < inner; ++i) wanted.push_back((o * size + index) * inner + i);
        }
      }
      const Array got = Run(TakeAttributes{.axis = axis}, {x, indices});
      EXPECT_EQ(got.type.shape, wanted_shape);
      EXPECT_EQ(got.type.dtype, GetParam());
      ExpectElements(got, x, wanted);
    }
  }
}

TEST_P(TakeContract, AlongAnAxisEachIndexHasItsPlace) {
  const Shape shape = {3, 40, 5};
  const Array x = Numbered(GetParam(), shape);
  for (const Shape& places :
       {Shape{3, 7, 5}, Shape{1, 70, 5}, Shape{3, 2, 1}, Shape{1, 1, 1}, Shape{3, 0, 5}}) {
    const Array indices = AnyIndices(DType::kInt64, places, 40, 11);
    std::vector<int64_t> wanted;
    for (int64_t o = 0; o < 3; ++o) {
      for (int64_t k = 0; k < places[1]; ++k) {
        for (int64_t i = 0; i < 5; ++i) {
          const int64_t at =
              ((places[0] == 1 ? 0 : o) * places[1] + k) * places[2] + (places[2] == 1 ? 0 : i);
          wanted.push_back((o * 40 + IndexAt(indices, at, 40)) * 5 + i);
        }
      }
    }
    const Array got = Run(TakeAttributes{.axis = -2, .along = true}, {x, indices});
    EXPECT_EQ(got.type.shape, (Shape{3, places[1], 5}));
    ExpectElements(got, x, wanted);
  }
  // Dimensions of x broadcast, too.
  const Array row = Numbered(GetParam(), {1, 9});
  const Array indices = AnyIndices(DType::kInt32, {4, 2}, 9, 5);
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < 8; ++i) wanted.push_back(IndexAt(indices, i, 9));
  ExpectElements(Run(TakeAttributes{.axis = 1, .along = true}, {row, indices}), row, wanted);
}

INSTANTIATE_TEST_SUITE_P(All, TakeContract,
                         testing::Values(DType::kUint8, DType::kInt16, DType::kFloat32,
                                         DType::kComplex64, DType::kComplex128),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

using TakeFaults = BufferTest;

// Each call by itself: one that is wrong leaves the others right.
TEST_F(TakeFaults, AnIndexOutOfRangeFailsItsCall) {
  const Array x = Numbered(DType::kFloat32, {3, 5}), wide = Numbered(DType::kFloat32, {2, 8});
  const Program program = ProgramOf(TakeAttributes{.axis = 1}, 2);
  const auto by = [](std::vector<int64_t> numbers) {
    const auto count = static_cast<int64_t>(numbers.size());
    return Indices(DType::kInt64, {count}, numbers);
  };
  const std::vector<Call> calls = {
      {program, {x, by({0, -5, 4})}},
      {program, {x, by({0, 5, 4})}},
      {program, {x, by({1, 2, -6})}},
      {program, {wide, by({5})}},
      {program, {x, by({1, 2, int64_t{1} << 40})}},
      {program, {x, by({4, 4, 4})}},
  };
  const std::vector<Results> results = RunBatch(calls);
  const std::string wrong[] = {
      "", "indices have 5, allowed are -5 to 4", "indices have -6, allowed are -5 to 4",
      "", "indices have 1099511627776, allowed", ""};
  for (size_t i = 0; i < calls.size(); ++i) {
    if (wrong[i].empty()) {
      ASSERT_TRUE(results[i].ok()) << results[i].status();
      EXPECT_TRUE(SameElements((*results[i])[0], Run(calls[i])[0])) << i;
    } else {
      EXPECT_EQ(results[i].status().code(), absl::StatusCode::kInvalidArgument) << i;
      ExpectSays(results[i].status(), wrong[i]);
    }
  }
}

// Faults of both kinds, of a step that is not the first, in one batch.
TEST_F(TakeFaults, BesideThoseOfPowers) {
  ProgramBuilder builder(3);
  const uint32_t powers = builder.Add(ElementwiseOp::kPower, {0, 1});
  const uint32_t taken = builder.Add(TakeAttributes{.axis = 0}, {powers, 2});
  const uint32_t again = builder.Add(TakeAttributes{.axis = 0}, {taken, 2});
  const Program program = builder.Returning({again});
  const auto call = [&](int32_t exponent, std::vector<int32_t> indices) {
    return Call{program,
                {ArrayOf<int32_t>({3}, {2, 3, 4}), ArrayOf<int32_t>({}, {exponent}),
                 ArrayOf<int32_t>({static_cast<int64_t>(indices.size())}, indices)}};
  };
  // The second take has two elements to choose from.
  const std::vector<Results> results = RunBatch(
      {call(2, {1, 0}), call(-1, {1, 0}), call(2, {2, 0}), call(2, {0, 3}), call(3, {0, 1})});
  ASSERT_TRUE(results[0].ok()) << results[0].status();
  EXPECT_EQ((*results[0])[0].bytes, ArrayOf<int32_t>({2}, {4, 9}).bytes);
  ExpectSays(results[1].status(), "power");
  ExpectSays(results[2].status(), "have 2, allowed are -2 to 1");
  ExpectSays(results[3].status(), "have 3, allowed are -3 to 2");
  ASSERT_TRUE(results[4].ok()) << results[4].status();
  EXPECT_EQ((*results[4])[0].bytes, ArrayOf<int32_t>({2}, {8, 27}).bytes);
}

// Indices that a sort of a reshaped resident tensor gives; results that stay and that do not.
TEST_F(TakeFaults, OfWhatASortGives) {
  const Array x = UniformArray(DType::kFloat32, {20, 30}, -9, 9, 3);
  ProgramBuilder builder(1);
  const uint32_t flat =
      builder.Add(RearrangeAttributes{.kind = RearrangeKind::kReshape, .sizes = {-1}}, {0});
  const uint32_t order = builder.Add(SortAttributes{.axis = 0, .indices = true}, {flat});
  const uint32_t sorted = builder.Add(TakeAttributes{.axis = 0, .along = true}, {flat, order});
  const Program program = builder.Returning({sorted, order});
  const Array wanted = Run(SortAttributes{}, {x});
  for (unsigned mix = 0; mix < 4; ++mix) {
    const Work work =
        WorkOf(program, {&x}, {{.resident = BufferOf(x)}}, {(mix & 1) != 0, (mix & 2) != 0});
    std::vector<Execution> batch = {work.execution()};
    ASSERT_EQ(Execute(batch), absl::OkStatus());
    const Storage& output = batch[0].outputs[0];
    EXPECT_EQ(output.resident ? Read(output.resident) : Bytes(output), wanted.bytes) << mix;
  }
}

}  // namespace
}  // namespace gpucall::contract
