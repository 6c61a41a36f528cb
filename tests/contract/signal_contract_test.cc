// Recurrences against the same in extended precision, element by element.
#include <algorithm>
#include <cmath>
#include <complex>

#include "absl/strings/str_cat.h"
#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

using Number = std::complex<long double>;

struct Filter {
  const char* name;
  SignalAttributes attributes;
};

std::vector<double> Repeated(const std::vector<double>& numbers, int times) {
  std::vector<double> result;
  for (int i = 0; i < times; ++i) result.insert(result.end(), numbers.begin(), numbers.end());
  return result;
}
std::vector<double> Echo(size_t delay, double strength) {
  std::vector<double> a(delay + 1);
  a.front() = 1;
  a.back() = strength;
  return a;
}
SignalAttributes Sections(int count) {
  SignalAttributes attributes = {.kind = SignalKind::kSosfilt};
  attributes.sections =
      Repeated({0.25, 0.5, 0.25, 1, -0.6, 0.5, 1, -0.8, 0.1, 1, -0.9, 0.7}, count);
  attributes.sections.resize(static_cast<size_t>(count) * 6);
  return attributes;
}

const std::vector<Filter>& Filters() {
  static const auto& filters = *new std::vector<Filter>{
      {"gain", {.b = {3}, .a = {2}}},
      {"first", {.b = {0.2}, .a = {1, -0.8}}},
      {"sum", {.b = {1}, .a = {1, -1}}},
      {"grows", {.b = {1}, .a = {1, -1.001}}},
      {"second", {.b = {0.5, -1, 0.5}, .a = {2, -3, 1.5}}},
      {"fourth", {.b = {1, 0.5}, .a = {1, -0.5, 0.3, 0.1, -0.2}}},
      {"seventh", {.b = {1, 2, 3, 4, 5, 6, 7, 8}, .a = {4, 0.5, 0, 0.5, -0.5, 0, 0, 1}}},
      {"echo", {.b = {1, 0, 0.5}, .a = Echo(70, -0.9)}},
      {"mean", {.b = std::vector<double>(40, 0.025), .a = {1}}},
      {"sections1", Sections(1)},
      {"sections2", Sections(2)},
      {"sections3", Sections(3)},
      {"sections9", Sections(9)},
  };
  return filters;
}

struct Case {
  Shape shape;
  int64_t axis;
};
const Case kCases[] = {{{1}, 0},        {{77}, 0},      {{5, 40}, -1},    {{40, 5}, 0},
                       {{3, 33, 6}, 1}, {{2, 9000}, 1}, {{9001, 3}, 0},   {{8200, 3}, 1},
                       {{0, 7}, 1},     {{2, 0}, 1},    {{2, 4096, 1}, 1}};

// As sections: b and a, divided by a[0].
std::vector<std::pair<std::vector<double>, std::vector<double>>> SectionsOf(
    const SignalAttributes& of) {
  if (of.kind == SignalKind::kLfilter) {
    const size_t size = std::max(of.a.size(), of.b.size());
    std::vector<double> b = of.b, a = of.a;
    for (double& number : b) number /= of.a[0];
    for (double& number : a) number /= of.a[0];
    b.resize(size);
    a.resize(size);
    return {{b, a}};
  }
  std::vector<std::pair<std::vector<double>, std::vector<double>>> sections;
  for (auto at = of.sections.begin(); at != of.sections.end(); at += 6) {
    sections.push_back({{at, at + 3}, {at + 3, at + 6}});
  }
  return sections;
}

struct Wanted {
  std::vector<Number> signal, state;
  Shape state_shape;
  long double largest = 0;  // of what is added up
};

Wanted Reference(const SignalAttributes& of, int64_t axis, const Array& x, const Array* zi) {
  const auto sections = SectionsOf(of);
  const auto rank = static_cast<int64_t>(x.type.shape.size());
  const auto d = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const int64_t count = x.type.shape[d];
  const auto order = static_cast<int64_t>(sections[0].second.size()) - 1;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < d; ++i) outer *= x.type.shape[i];
  for (size_t i = d + 1; i < x.type.shape.size(); ++i) inner *= x.type.shape[i];
  Wanted wanted;
  wanted.state_shape = x.type.shape;
  wanted.state_shape[d] = order;
  if (of.kind == SignalKind::kSosfilt) {
    wanted.state_shape.insert(wanted.state_shape.begin(), static_cast<int64_t>(sections.size()));
  }
  wanted.signal.resize(static_cast<size_t>(x.count()));
  wanted.state.resize(static_cast<size_t>(ElementCount(wanted.state_shape)));
  for (int64_t line = 0; line < outer * inner; ++line) {
    const int64_t o = line / inner, i = line % inner;
    std::vector<Number> values;
    for (int64_t e = 0; e < count; ++e) values.push_back(x.number((o * count + e) * inner + i));
    for (size_t s = 0; s < sections.size(); ++s) {
      const auto& [b, a] = sections[s];
      const int64_t start = (static_cast<int64_t>(s) * outer + o) * order * inner + i;
      std::vector<Number> z(static_cast<size_t>(order) + 1);
      for (int64_t k = 0; zi != nullptr && k < order; ++k) {
        z[static_cast<size_t>(k)] = zi->number(start + k * inner);
      }
      for (Number& value : values) {
        const Number y = z[0] + static_cast<long double>(b[0]) * value;
        for (size_t k = 0; k + 1 < z.size(); ++k) {
          z[k] = z[k + 1] + static_cast<long double>(b[k + 1]) * value -
                 static_cast<long double>(a[k + 1]) * y;
          wanted.largest = std::max(wanted.largest, std::abs(z[k]));
        }
        value = y;
        wanted.largest = std::max(wanted.largest, std::abs(y));
      }
      for (int64_t k = 0; k < order; ++k) {
        wanted.state[static_cast<size_t>(start + k * inner)] = z[static_cast<size_t>(k)];
      }
    }
    for (int64_t e = 0; e < count; ++e) {
      wanted.signal[static_cast<size_t>((o * count + e) * inner + i)] =
          values[static_cast<size_t>(e)];
    }
  }
  return wanted;
}

DType ResultOf(DType x) { return KindOf(x) < DTypeKind::kFloat ? DType::kFloat64 : x; }

// Rounded to the result's dtype (bfloat16 by way of float32), from sums in float64.
void ExpectNear(const Array& got, const std::vector<Number>& wanted, long double largest) {
  const DType real = RealPartOf(got.type.dtype);
  const long double unit = real == DType::kFloat64   ? 0x1p-53L
                           : real == DType::kFloat32 ? 0x1p-24L
                                                     : 0x1.01p-8L;
  ASSERT_EQ(got.count(), static_cast<int64_t>(wanted.size()));
  for (int64_t i = 0; i < got.count(); ++i) {
    const Number right = wanted[static_cast<size_t>(i)];
    ASSERT_LE(std::abs(got.number(i) - right), unit * std::abs(right) + 1e-11L * largest) << i;
  }
}

class Signals : public DeviceTest, public testing::WithParamInterface<std::tuple<size_t, DType>> {};

TEST_P(Signals, EqualRecurrences) {
  const auto& [index, dtype] = GetParam();
  SignalAttributes attributes = Filters()[index].attributes;
  for (const Case& test : kCases) {
    SCOPED_TRACE(absl::StrCat(ShapeString(test.shape), " axis ", test.axis));
    attributes.axis = test.axis;
    const Array x = UniformArray(dtype, test.shape, -1, 2, 1);
    Wanted wanted = Reference(attributes, test.axis, x, nullptr);
    attributes.final_state = false;
    const Array got = Run(attributes, {x});
    ASSERT_EQ(got.type, (TensorType{ResultOf(dtype), test.shape}));
    ExpectNear(got, wanted.signal, wanted.largest);
    const Array zi = UniformArray(dtype == DType::kComplex64 ? dtype : DType::kFloat64,
                                  wanted.state_shape, -1, 1, 2);
    wanted = Reference(attributes, test.axis, x, &zi);
    ExpectNear(Run(attributes, {x, zi}), wanted.signal, wanted.largest);
    attributes.final_state = true;
    const Array state = Run(attributes, {x, zi});
    ASSERT_EQ(state.type, (TensorType{ResultOf(dtype), wanted.state_shape}));
    ExpectNear(state, wanted.state, wanted.largest);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Signals,
                         testing::Combine(testing::Range(size_t{0}, Filters().size()),
                                          testing::Values(DType::kUint8, DType::kBfloat16,
                                                          DType::kFloat32, DType::kFloat64,
                                                          DType::kComplex64)),
                         [](const auto& info) {
                           return absl::StrCat(Filters()[std::get<0>(info.param)].name, "_",
                                               DTypeName(std::get<1>(info.param)));
                         });

// One state for all lines, of an axis with others before and after it.
TEST_F(DeviceTest, StatesOfSize1Broadcast) {
  const SignalAttributes attributes = {.axis = 1, .b = {1}, .a = {1, -0.5}};
  const Array x = UniformArray(DType::kFloat32, {3, 20, 2}, -1, 1, 1);
  const Array one = ArrayOf<float>({1, 1, 1}, {4});
  const Array all = ArrayOf<double>({3, 1, 2}, std::vector<double>(6, 4));
  EXPECT_TRUE(SameElements(Run(attributes, {x, one}), Run(attributes, {x, all})));
}

TEST_F(DeviceTest, SignalsGoOnFromTheirState) {
  SignalAttributes attributes = Sections(3);
  const Array x = UniformArray(DType::kFloat64, {2, 10000}, -1, 1, 1);
  const auto part = [&](int64_t start, int64_t stop) {
    return Run(RearrangeAttributes{.kind = RearrangeKind::kSlice,
                                   .ranges = {{}, {.start = start, .stop = stop}}},
               {x});
  };
  const Array whole = Run(attributes, {x});
  attributes.final_state = true;
  const Array state = Run(attributes, {part(0, 6000)});
  attributes.final_state = false;
  const Array rest = Run(attributes, {part(6000, 10000), state});
  for (int64_t i = 0; i < rest.count(); ++i) {
    ASSERT_NEAR(rest.at(i), whole.at(i / 4000 * 10000 + 6000 + i % 4000), 1e-10) << i;
  }
}

// One pass gives both, the same as two.
TEST_F(DeviceTest, SignalsAndTheirStatesTogether) {
  for (SignalAttributes attributes :
       {Sections(2), Sections(9), SignalAttributes{.b = {1, 2}, .a = {1, -0.5}},
        SignalAttributes{.b = {1}, .a = Echo(30, 0.5)}}) {
    for (const Shape& shape : {Shape{2, 9000}, Shape{3, 70}, Shape{2, 0}}) {
      const Array x = UniformArray(DType::kFloat32, shape, -1, 1, 3);
      SignalAttributes states = attributes;
      states.final_state = true;
      Shape state_shape = Run(states, {x}).type.shape;
      const Array zi = UniformArray(DType::kFloat64, state_shape, -1, 1, 4);
      ProgramBuilder builder(2);
      const uint32_t state = builder.Add(states, {0, 1});
      const uint32_t signal = builder.Add(attributes, {0, 1});
      const std::vector<Array> got = Run({builder.Returning({signal, state}), {x, zi}});
      EXPECT_TRUE(SameElements(got[0], Run(attributes, {x, zi})));
      EXPECT_TRUE(SameElements(got[1], Run(states, {x, zi})));
    }
  }
}

TEST_F(DeviceTest, SignalsInABatchAreThoseAlone) {
  for (const SignalAttributes& attributes :
       {SignalAttributes{.b = {1, 0.5}, .a = {1, -0.7, 0.2}}, Sections(2),
        SignalAttributes{.b = {1}, .a = Echo(30, 0.5)}}) {
    std::vector<Call> calls;
    for (const Shape& shape :
         {Shape{3, 50}, Shape{2, 9000}, Shape{3, 50}, Shape{0, 4}, Shape{9000}, Shape{1}}) {
      calls.push_back({ProgramOf(attributes, 1), {UniformArray(DType::kFloat32, shape, -1, 1, 7)}});
    }
    const auto batched = RunBatch(calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_TRUE(batched[i].ok()) << batched[i].status();
      EXPECT_TRUE(SameElements((*batched[i])[0], Run(calls[i])[0])) << i;
    }
  }
}

}  // namespace
}  // namespace gpucall::contract
