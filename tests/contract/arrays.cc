// The elements of arrays, for the contract tests.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "tests/contract/contract.h"

namespace gpucall::contract {
namespace {

// The bits of a float of `fraction_bits` and exponents from 1 - `bias`.
uint16_t HalfBits(double value, int fraction_bits, int bias) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int special = 0x7fff >> fraction_bits << fraction_bits;
  if (std::isnan(value)) return static_cast<uint16_t>(special | 1 << (fraction_bits - 1));
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);
  const double units = std::nearbyint(std::ldexp(std::abs(value), fraction_bits - exponent));
  // Where the units carry into the exponent, adding does what is right.
  const double bits = std::ldexp(exponent + bias - 1, fraction_bits) + units;
  return static_cast<uint16_t>(sign | static_cast<int>(std::min<double>(bits, special)));
}

double HalfValue(uint16_t bits, int fraction_bits, int bias) {
  const int magnitude = bits & 0x7fff, fraction = magnitude & ((1 << fraction_bits) - 1);
  const int exponent = magnitude >> fraction_bits;
  const bool special = exponent == 0x7fff >> fraction_bits;
  const int hidden = exponent > 0 ? 1 << fraction_bits : 0;
  const double finite = std::ldexp(hidden + fraction, std::max(exponent, 1) - bias - fraction_bits);
  const double infinity = std::numeric_limits<double>::infinity();
  const double value = !special ? finite : fraction != 0 ? std::nan("") : infinity;
  return (bits & 0x8000) != 0 ? -value : value;
}

// Element `index` as the number, of complex dtypes its real part.
void Set(Array& array, int64_t index, double value) {
  const auto put = [&](auto element) {
    std::byte* place =
        array.bytes.data() + static_cast<size_t>(index) * ElementSize(array.type.dtype);
    std::memcpy(place, &element, sizeof(element));
  };
  switch (array.type.dtype) {
    case DType::kBool:
      return put(static_cast<uint8_t>(value != 0));
    case DType::kUint8:
      return put(static_cast<uint8_t>(value));
    case DType::kUint16:
      return put(static_cast<uint16_t>(value));
    case DType::kUint32:
      return put(static_cast<uint32_t>(value));
    case DType::kUint64:
      return put(value >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(value));
    case DType::kInt8:
      return put(static_cast<int8_t>(value));
    case DType::kInt16:
      return put(static_cast<int16_t>(value));
    case DType::kInt32:
      return put(static_cast<int32_t>(value));
    case DType::kInt64:
      return put(value >= 0x1p63 ? std::numeric_limits<int64_t>::max()
                                 : static_cast<int64_t>(value));
    case DType::kFloat16:
      return put(HalfBits(value, 10, 15));
    case DType::kBfloat16:
      return put(HalfBits(value, 7, 127));
    case DType::kFloat32:
      return put(static_cast<float>(value));
    case DType::kComplex64:
      return put(std::complex<float>(static_cast<float>(value)));
    case DType::kComplex128:
      return put(std::complex<double>(value));
    default:
      return put(value);
  }
}

std::vector<double> SpecialNumbers(DType dtype) {
  const double past = std::ldexp(1.0, 8 * static_cast<int>(ElementSize(dtype)));  // 2^64, too
  if (dtype == DType::kInt32) return {0, 1, -1, 2147483647.0, -2147483648.0, 46341, -46341};
  if (KindOf(dtype) == DTypeKind::kSigned) return {0, 1, -1, past / 2 - 1, -past / 2, 7, -7};
  if (!IsFloating(dtype)) return {0, 1, 2, past / 2 - 1, past / 2, past - 1};
  const bool wide = dtype == DType::kFloat64, half = dtype == DType::kFloat16;
  const double tiny = wide ? 1e-310 : half ? 1e-6 : 1e-40;
  const double huge = wide ? 1.7e308 : half ? 65000 : 3e38;
  const double infinity = std::numeric_limits<double>::infinity();
  return {0.0, -0.0, 1, -1, tiny, -tiny, huge, -huge, infinity, -infinity, std::nan(""), 0.5, 88.8};
}

// Parts from -3 to 3.
Array ComplexArray(DType dtype, const Shape& shape, unsigned seed) {
  const DType part = RealPartOf(dtype);
  Shape parts = shape;
  parts.push_back(2);
  Array array = UniformArray(part, parts, -3, 3, seed);
  array.type = {dtype, shape};
  return array;
}

}  // namespace

Array Empty(DType dtype, const Shape& shape) {
  Array array = {{dtype, shape}, {}};
  array.bytes.resize(static_cast<size_t>(array.type.size_bytes()));
  return array;
}

std::complex<long double> Array::number(int64_t index) const {
  switch (type.dtype) {
    case DType::kUint16:
      return get<uint16_t>(index);
    case DType::kUint32:
      return get<uint32_t>(index);
    case DType::kUint64:
      return static_cast<long double>(get<uint64_t>(index));
    case DType::kInt8:
      return get<int8_t>(index);
    case DType::kInt16:
      return get<int16_t>(index);
    case DType::kInt32:
      return get<int32_t>(index);
    case DType::kInt64:
      return static_cast<long double>(get<int64_t>(index));
    case DType::kFloat16:
      return HalfValue(get<uint16_t>(index), 10, 15);
    case DType::kBfloat16:
      return HalfValue(get<uint16_t>(index), 7, 127);
    case DType::kFloat32:
      return get<float>(index);
    case DType::kFloat64:
      return get<double>(index);
    case DType::kComplex64:
      return std::complex<long double>(get<std::complex<float>>(index));
    case DType::kComplex128:
      return std::complex<long double>(get<std::complex<double>>(index));
    default:
      return get<uint8_t>(index);
  }
}

double Array::at(int64_t index) const { return static_cast<double>(number(index).real()); }

Array UniformArray(DType dtype, const Shape& shape, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  Array array = Empty(dtype, shape);
  for (int64_t i = 0; i < array.count(); ++i) Set(array, i, distribution(random));
  return array;
}

Array MixedArray(DType dtype, const Shape& shape, unsigned seed) {
  if (KindOf(dtype) == DTypeKind::kComplex) return ComplexArray(dtype, shape, seed);
  const bool is_signed = IsFloating(dtype) || KindOf(dtype) == DTypeKind::kSigned;
  Array array = UniformArray(dtype, shape, is_signed ? -20 : 0, is_signed ? 20 : 255.9, seed);
  const std::vector<double> special = SpecialNumbers(dtype);
  std::mt19937 random(seed + 1);
  for (int64_t i = 0; i < array.count(); ++i) {
    if (random() % 3 == 0) Set(array, i, special[random() % special.size()]);
  }
  if (dtype == DType::kBool) {
    for (int64_t i = 0; i < array.count(); ++i) Set(array, i, static_cast<double>(random() % 2));
  }
  return array;
}

testing::AssertionResult SameElements(const Array& got, const Array& wanted) {
  if (got.type != wanted.type) return testing::AssertionFailure() << "other dtype or shape";
  const size_t size = ElementSize(got.type.dtype);
  for (int64_t i = 0; i < got.count(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(got.bytes.data() + at, wanted.bytes.data() + at, size) == 0) continue;
    if (std::isnan(got.at(i)) && std::isnan(wanted.at(i))) continue;
    return testing::AssertionFailure()
           << "element " << i << " is " << got.at(i) << ", wanted " << wanted.at(i);
  }
  return testing::AssertionSuccess();
}

}  // namespace gpucall::contract
