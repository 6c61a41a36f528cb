// Element types. Numbers are those of the wire (proto/gpucall/v1/tensor.proto).
#ifndef GPUCALL_SERVER_BASE_DTYPE_H_
#define GPUCALL_SERVER_BASE_DTYPE_H_

#include <complex>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace gpucall {

// After kUnspecified the rows of kernels/dtypes.def.
enum class DType : uint8_t {
  kUnspecified = 0,
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) k##Name,
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
};
inline constexpr int kDTypeCount = 1
#define GPUCALL_DTYPE(...) +1
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
    ;

enum class DTypeKind : uint8_t { kNone, kBool, kUnsigned, kSigned, kFloat, kComplex };

// Bytes of one element; 0 for kUnspecified.
size_t ElementSize(DType dtype);
// NumPy's name: "float32". "unspecified" for kUnspecified.
absl::string_view DTypeName(DType dtype);
DTypeKind KindOf(DType dtype);
// True for float16, bfloat16, float32 and float64.
inline bool IsFloating(DType dtype) { return KindOf(dtype) == DTypeKind::kFloat; }
// True for the signed and unsigned integers, not for bool.
bool IsInteger(DType dtype);

// True for the dtypes that kernels of filters may have: bool, uint8, int32, float32, float64.
bool IsOffered(DType dtype);

// NumPy 2's result dtype for two array operands; bfloat16 takes part as float16 does, and with it
// gives float32. REQUIRES: neither is kUnspecified.
DType Promote(DType a, DType b);
// The smallest float dtype that NumPy computes functions of `dtype` in: float16 for bool and 8-bit
// integers, float32 for 16-bit ones, float64 for the others; floats and complex dtypes as they are.
DType FloatFor(DType dtype);
// The dtype of the real part: float32 for complex64; other dtypes as they are.
DType RealPartOf(DType dtype);

// The dtype of a C++ type: DTypeOf<float>() is kFloat32. float16 and bfloat16 have none.
template <typename T>
constexpr DType DTypeOf();
#define GPUCALL_DTYPE_OF(T, dtype) \
  template <>                      \
  constexpr DType DTypeOf<T>() {   \
    return DType::dtype;           \
  }
GPUCALL_DTYPE_OF(bool, kBool)
GPUCALL_DTYPE_OF(uint8_t, kUint8)
GPUCALL_DTYPE_OF(uint16_t, kUint16)
GPUCALL_DTYPE_OF(uint32_t, kUint32)
GPUCALL_DTYPE_OF(uint64_t, kUint64)
GPUCALL_DTYPE_OF(int8_t, kInt8)
GPUCALL_DTYPE_OF(int16_t, kInt16)
GPUCALL_DTYPE_OF(int32_t, kInt32)
GPUCALL_DTYPE_OF(int64_t, kInt64)
GPUCALL_DTYPE_OF(float, kFloat32)
GPUCALL_DTYPE_OF(double, kFloat64)
GPUCALL_DTYPE_OF(std::complex<float>, kComplex64)
GPUCALL_DTYPE_OF(std::complex<double>, kComplex128)
#undef GPUCALL_DTYPE_OF

}  // namespace gpucall

#endif  // GPUCALL_SERVER_BASE_DTYPE_H_
