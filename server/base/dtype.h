// Element types. Numbers are those of the wire (proto/gpucall/v1/tensor.proto).
#ifndef GPUCALL_SERVER_BASE_DTYPE_H_
#define GPUCALL_SERVER_BASE_DTYPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace gpucall {

enum class DType : uint8_t {
  kUnspecified = 0,
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
inline constexpr int kDTypeCount = 16;

// Bytes of one element; 0 for kUnspecified.
size_t ElementSize(DType dtype);
// NumPy's name: "float32". "unspecified" for kUnspecified.
absl::string_view DTypeName(DType dtype);
bool IsFloating(DType dtype);

// True for the dtypes this server computes with: bool, uint8, int32, float32, float64.
bool IsOffered(DType dtype);
// NumPy 2's result dtype for two array operands. REQUIRES: both are offered.
DType Promote(DType a, DType b);

// The dtype of a C++ type: DTypeOf<float>() is kFloat32.
template <typename T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<bool>() {
  return DType::kBool;
}
template <>
constexpr DType DTypeOf<uint8_t>() {
  return DType::kUint8;
}
template <>
constexpr DType DTypeOf<int32_t>() {
  return DType::kInt32;
}
template <>
constexpr DType DTypeOf<float>() {
  return DType::kFloat32;
}
template <>
constexpr DType DTypeOf<double>() {
  return DType::kFloat64;
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_BASE_DTYPE_H_
