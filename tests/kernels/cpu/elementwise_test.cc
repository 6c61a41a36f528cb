#include "kernels/cpu/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/loops/tables.h"

namespace gpucall::cpu {
namespace {

constexpr size_t kCount = 3011;  // no multiple of any vector
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Elements of any kind from random bits; float exponents are kept apart from overflow by chance.
std::vector<std::byte> RandomElements(ElementType type, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(kCount * SizeOf(type));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (size_t i = 0; i < kCount; i += 3) {  // and numbers near 1
    const float near_float = static_cast<float>(random() % 1000) / 300.0f - 1;
    const double near_double = near_float;
    if (type == ElementType::kFloat32) std::memcpy(&bytes[i * 4], &near_float, 4);
    if (type == ElementType::kFloat64) std::memcpy(&bytes[i * 8], &near_double, 8);
  }
  return bytes;
}

template <class T>
bool SameReals(const std::byte* a, const std::byte* b, size_t count = kCount) {
  for (size_t i = 0; i < count; ++i) {
    T x, y;
    std::memcpy(&x, a + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b + i * sizeof(T), sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

bool Same(ElementType type, const std::byte* a, const std::byte* b) {
  if (type == ElementType::kFloat32) return SameReals<float>(a, b);
  if (type == ElementType::kFloat64) return SameReals<double>(a, b);
  if (type == ElementType::kComplex64) return SameReals<float>(a, b, 2 * kCount);
  if (type == ElementType::kComplex128) return SameReals<double>(a, b, 2 * kCount);
  return std::memcmp(a, b, kCount * SizeOf(type)) == 0;
}

// Runs at odd addresses.
std::vector<std::byte> RunLoop(ElementwiseLoop loop, ElementType type, bool condition_first) {
  std::vector<std::vector<std::byte>> operands;
  const void* pointers[3];
  for (unsigned i = 0; i < 3; ++i) {
    operands.push_back(RandomElements(i == 0 && condition_first ? ElementType::kBool : type, i));
    operands.back().insert(operands.back().begin(), std::byte{});
    pointers[i] = operands.back().data() + 1;
  }
  std::vector<std::byte> out(kCount * SizeOf(type) + 1);
  loop(pointers, out.data() + 1, kCount);
  return out;
}

constexpr const char* kRules[] = {
#define GPUCALL_ELEMENTWISE(Function, name, arity, takes, rule, ...) #rule,
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

TEST(Elementwise, EveryInstructionSetGivesTheSameBits) {
  const Level& baseline = SupportedLevels().front();
  for (const Level& level : SupportedLevels()) {
    for (size_t row = 0; row < kElementwiseRowCount; ++row) {
      for (size_t t = 0; t < kElementTypeCount; ++t) {
        const ElementwiseLoop loop = level.elementwise.columns[t]->loops[row];
        ASSERT_EQ(loop == nullptr, baseline.elementwise.columns[t]->loops[row] == nullptr);
        if (loop == nullptr) continue;
        const auto type = static_cast<ElementType>(t);
        const bool select = std::strcmp(kRules[row], "kSelect") == 0;
        const auto got = RunLoop(loop, type, select);
        const auto wanted = RunLoop(baseline.elementwise.columns[t]->loops[row], type, select);
        EXPECT_TRUE(Same(type, got.data() + 1, wanted.data() + 1))
            << level.name << " row " << row << " type " << t;
      }
    }
  }
}

// `loop` of every level gives what the baseline's does.
void ExpectSame(ElementType from, ElementType to, ConvertLoop loop, ConvertLoop baseline) {
  ASSERT_EQ(loop == nullptr, baseline == nullptr);
  if (loop == nullptr) return;
  const auto in = RandomElements(from, 5);
  std::vector<std::byte> got(kCount * SizeOf(to)), wanted(got.size());
  loop(in.data(), got.data(), kCount);
  baseline(in.data(), wanted.data(), kCount);
  EXPECT_TRUE(Same(to, got.data(), wanted.data()));
}

TEST(Elementwise, EveryInstructionSetConvertsTheSame) {
  const Level& baseline = SupportedLevels().front();
  for (const Level& level : SupportedLevels()) {
    for (size_t f = 0; f < kElementTypeCount; ++f) {
      for (size_t t = 0; t < kElementTypeCount; ++t) {
        SCOPED_TRACE(std::string(level.name) + " " + std::to_string(f) + " " + std::to_string(t));
        const auto from = static_cast<ElementType>(f), to = static_cast<ElementType>(t);
        ExpectSame(from, to, level.convert.loops[f][t], baseline.convert.loops[f][t]);
        ExpectSame(from, to, level.casts.loops[f][t], baseline.casts.loops[f][t]);
      }
    }
  }
}

TEST(Elementwise, OutputMayBeAnOperand) {
  std::vector<float> a(kCount, 3), b(kCount, 4);
  const void* operands[] = {a.data(), b.data()};
  FindElementwiseLoop(9, ElementType::kFloat32)(operands, a.data(), kCount);  // add
  EXPECT_EQ(a, std::vector<float>(kCount, 7));
}

template <class From, class To>
std::vector<To> Converted(ElementType from, ElementType to, const std::vector<From>& in) {
  std::vector<To> out(in.size());
  FindConvertLoop(from, to)(in.data(), out.data(), in.size());
  return out;
}

TEST(Convert, ToIntegersRoundsHalvesToEvenAndSaturates) {
  const std::vector<float> floats = {
      -1, 300, 255.9f, 0.5f, 1.5f, 2.5f, 254.5f, -0.0f, 3e10f, -INFINITY, static_cast<float>(kNan)};
  EXPECT_EQ((Converted<float, uint8_t>(ElementType::kFloat32, ElementType::kUint8, floats)),
            (std::vector<uint8_t>{0, 255, 255, 0, 2, 2, 254, 0, 255, 0, 0}));
  const std::vector<double> doubles = {-1.5,   2147483646.5, 1e300,
                                       -1e300, kNan,         0.49999999999999994};
  EXPECT_EQ((Converted<double, int32_t>(ElementType::kFloat64, ElementType::kInt32, doubles)),
            (std::vector<int32_t>{-2, 2147483646, 2147483647, -2147483647 - 1, 0, 0}));
  EXPECT_EQ((Converted<int32_t, uint8_t>(ElementType::kInt32, ElementType::kUint8, {-5, 7, 256})),
            (std::vector<uint8_t>{0, 7, 255}));
  EXPECT_EQ((Converted<double, uint8_t>(ElementType::kFloat64, ElementType::kBool,
                                        {0.0, -0.0, 1e-300, kNan, 0.3})),
            (std::vector<uint8_t>{0, 0, 1, 1, 1}));
}

template <class From, class To>
std::vector<To> Cast(ElementType from, ElementType to, const std::vector<From>& in) {
  std::vector<To> out(in.size());
  FindCastLoop(from, to)(in.data(), out.data(), in.size());
  return out;
}

TEST(Cast, FloatsToIntegersAreCutOffAndSaturate) {
  const std::vector<float> floats = {-1, 300, 255.9f, 0.5f, -0.9f, -0.0f, 3e10f, -INFINITY, NAN};
  EXPECT_EQ((Cast<float, uint8_t>(ElementType::kFloat32, ElementType::kUint8, floats)),
            (std::vector<uint8_t>{0, 255, 255, 0, 0, 0, 255, 0, 0}));
  EXPECT_EQ((Cast<float, int8_t>(ElementType::kFloat32, ElementType::kInt8, floats)),
            (std::vector<int8_t>{-1, 127, 127, 0, 0, 0, 127, -128, 0}));
  const std::vector<double> doubles = {-1.5, 2147483647.5, 1e300, -1e300, kNan, -2147483648.9};
  EXPECT_EQ((Cast<double, int32_t>(ElementType::kFloat64, ElementType::kInt32, doubles)),
            (std::vector<int32_t>{-1, 2147483647, 2147483647, INT32_MIN, 0, INT32_MIN}));
  EXPECT_EQ((Cast<double, int64_t>(ElementType::kFloat64, ElementType::kInt64,
                                   {0x1p63, -0x1p63, 0x1.fffffffffffffp62, kNan})),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN, 0x7ffffffffffffc00, 0}));
  EXPECT_EQ((Cast<double, uint64_t>(ElementType::kFloat64, ElementType::kUint64,
                                    {0x1p64, -1, 0x1p63, 0.99})),
            (std::vector<uint64_t>{UINT64_MAX, 0, uint64_t{1} << 63, 0}));
}

TEST(Cast, IntegersWrap) {
  EXPECT_EQ((Cast<int32_t, uint8_t>(ElementType::kInt32, ElementType::kUint8, {-5, 7, 256, 511})),
            (std::vector<uint8_t>{251, 7, 0, 255}));
  EXPECT_EQ((Cast<uint64_t, int16_t>(ElementType::kUint64, ElementType::kInt16, {65535, 32768})),
            (std::vector<int16_t>{-1, -32768}));
}

TEST(Cast, ToFloat16RoundsOnce) {
  // Halfway between 1 and the next float16, and a little more than float32 can tell.
  EXPECT_EQ((Cast<double, uint16_t>(ElementType::kFloat64, ElementType::kFloat16,
                                    {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 65519.999, 65520, 0x1p-25,
                                     0x1.0000000001p-25, -0.0, kNan})),
            (std::vector<uint16_t>{0x3c00, 0x3c01, 0x7bff, 0x7c00, 0, 1, 0x8000, 0x7e00}));
  EXPECT_EQ((Cast<double, uint16_t>(ElementType::kFloat64, ElementType::kBfloat16,
                                    {1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, 3.4e38, 1e300})),
            (std::vector<uint16_t>{0x3f80, 0x3f81, 0x7f80, 0x7f80}));
}

TEST(Cast, EveryFloat16GoesToFloatAndBack) {
  std::vector<uint16_t> halves(1 << 16);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  for (const ElementType half : {ElementType::kFloat16, ElementType::kBfloat16}) {
    const auto floats = Cast<uint16_t, float>(half, ElementType::kFloat32, halves);
    const auto back = Cast<float, uint16_t>(ElementType::kFloat32, half, floats);
    for (size_t i = 0; i < halves.size(); ++i) {
      if (std::isnan(floats[i])) continue;
      ASSERT_EQ(back[i], halves[i]) << floats[i];
    }
  }
}

TEST(PowerFaults, AreFoundAtTheirPlace) {
  EXPECT_EQ(FindPowerFaultScan(ElementType::kUint8), nullptr);
  const FaultScan scan = FindPowerFaultScan(ElementType::kInt32);
  std::vector<int32_t> exponents(100, 2);
  EXPECT_EQ(scan(exponents.data(), 100), 100u);
  exponents[63] = exponents[80] = -1;
  EXPECT_EQ(scan(exponents.data(), 100), 63u);
  EXPECT_EQ(scan(exponents.data(), 60), 60u);
  EXPECT_EQ(scan(exponents.data(), 0), 0u);
}

// All floats, sampled: one in 4099 bit patterns.
void ExpectWithinUlps(size_t row, long double (*reference)(long double), double limit) {
  std::vector<float> in, out;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
    const auto pattern = static_cast<uint32_t>(bits);
    in.push_back(__builtin_bit_cast(float, pattern));
  }
  out.resize(in.size());
  const void* operands[] = {in.data()};
  FindElementwiseLoop(row, ElementType::kFloat32)(operands, out.data(), in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const long double exact = reference(in[i]);
    const float wanted = static_cast<float>(exact);
    if (std::isnan(wanted) || std::isinf(wanted) || std::isinf(out[i])) {
      ASSERT_TRUE(std::isnan(wanted) ? std::isnan(out[i]) : out[i] == wanted)
          << in[i] << " gave " << out[i] << ", wanted " << wanted;
      continue;
    }
    const float magnitude = std::abs(wanted);
    const long double ulp = std::nextafter(magnitude, INFINITY) - magnitude;
    ASSERT_LE(std::abs(out[i] - exact) / ulp, limit) << in[i] << " gave " << out[i];
  }
}

TEST(FloatMath, IsWithinTwoUlps) {
  ExpectWithinUlps(
      2, [](long double x) { return std::exp(x); }, 1.5);
  ExpectWithinUlps(
      3, [](long double x) { return std::log(x); }, 1.5);
  ExpectWithinUlps(
      5, [](long double x) { return std::tanh(x); }, 2);
  ExpectWithinUlps(
      6, [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.5);
}

}  // namespace
}  // namespace gpucall::cpu
