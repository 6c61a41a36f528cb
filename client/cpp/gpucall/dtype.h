// Element types of arrays.
#ifndef GPUCALL_DTYPE_H_
#define GPUCALL_DTYPE_H_

#include <complex>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace gpucall {
inline namespace client {

// Numbers are those of the wire. A server answers UNIMPLEMENTED for those it does not offer.
enum class DType : uint8_t {
  kUnspecified = 0,
  kBool,  // one byte, 0 or 1
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
  kComplex64,   // two float32
  kComplex128,  // two float64
};
inline constexpr int kDTypeCount = 16;

// Bytes of one element; 0 for kUnspecified.
size_t ElementSize(DType dtype);
// NumPy's name: "float32". "unspecified" for kUnspecified.
absl::string_view DTypeName(DType dtype);

// The dtype of a C++ type: kDTypeOf<float> is kFloat32. float16 and bfloat16 have no C++20 type.
template <typename T>
inline constexpr DType kDTypeOf = DType::kUnspecified;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUint8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kUint16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kUint32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kUint64;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<std::complex<float>> = DType::kComplex64;
template <>
inline constexpr DType kDTypeOf<std::complex<double>> = DType::kComplex128;

template <typename T>
concept Element = kDTypeOf<T>
!= DType::kUnspecified;

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_DTYPE_H_
