#include "server/program/fill_element.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace gpucall {
namespace {

using Bytes = std::array<std::byte, 16>;

template <class T>
bool Set(double value, Bytes& bytes) {
  // Comparing as double lets the highest of int64 and uint64, which it does not hold, pass.
  if constexpr (std::is_integral_v<T>) {
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(value >= low && value < past && value == std::floor(value))) return false;
  }
  const T element = static_cast<T>(value);
  std::memcpy(bytes.data(), &element, sizeof(element));
  return true;
}

}  // namespace

std::optional<Bytes> FillElement(DType dtype, double value) {
  Bytes element = {};
  bool valid = false;
  switch (dtype) {
    case DType::kBool:
      valid = Set<bool>(value, element);
      break;
    case DType::kUint8:
      valid = Set<uint8_t>(value, element);
      break;
    case DType::kUint16:
      valid = Set<uint16_t>(value, element);
      break;
    case DType::kUint32:
      valid = Set<uint32_t>(value, element);
      break;
    case DType::kUint64:
      valid = Set<uint64_t>(value, element);
      break;
    case DType::kInt8:
      valid = Set<int8_t>(value, element);
      break;
    case DType::kInt16:
      valid = Set<int16_t>(value, element);
      break;
    case DType::kInt32:
      valid = Set<int32_t>(value, element);
      break;
    case DType::kInt64:
      valid = Set<int64_t>(value, element);
      break;
    case DType::kFloat32:
    case DType::kComplex64:
      valid = Set<float>(value, element);
      break;
    case DType::kFloat64:
    case DType::kComplex128:
      valid = Set<double>(value, element);
      break;
    default:
      valid = value == 0;  // halves: their bits are 0
      break;
  }
  if (!valid) return std::nullopt;
  return element;
}

}  // namespace gpucall
