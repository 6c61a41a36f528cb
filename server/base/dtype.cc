#include "server/base/dtype.h"

#include <algorithm>
#include <array>

namespace gpucall {
namespace {

struct Row {
  absl::string_view name;
  DTypeKind kind;
  size_t size_bytes;
};
constexpr std::array<Row, kDTypeCount> kRows = {{
    {"unspecified", DTypeKind::kNone, 0},
#define GPUCALL_DTYPE(Name, name, kind, size_bytes, Type) {#name, DTypeKind::kind, size_bytes},
#include "kernels/dtypes.def"
#undef GPUCALL_DTYPE
}};

const Row& RowOf(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

DType OfKindAndSize(DTypeKind kind, size_t size_bytes) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].kind == kind && kRows[i].size_bytes == size_bytes) return static_cast<DType>(i);
  }
  return DType::kUnspecified;
}

DType PromoteIntegers(DType a, DType b) {
  if (KindOf(a) == KindOf(b)) return ElementSize(a) >= ElementSize(b) ? a : b;
  const size_t of_signed = ElementSize(KindOf(a) == DTypeKind::kSigned ? a : b);
  const size_t of_unsigned = ElementSize(KindOf(a) == DTypeKind::kSigned ? b : a);
  if (of_unsigned == sizeof(uint64_t)) return DType::kFloat64;
  return OfKindAndSize(DTypeKind::kSigned, std::max(of_signed, 2 * of_unsigned));
}

DType PromoteFloats(DType a, DType b) {
  if (a == b) return a;
  const size_t size_bytes = std::max(ElementSize(a), ElementSize(b));
  return size_bytes == 2 ? DType::kFloat32 : ElementSize(a) == size_bytes ? a : b;
}

// With bfloat16, what float16 stands for fits bfloat16 too.
DType PromoteWithFloat(DType other, DType floating) {
  const DType needed = FloatFor(other);
  return needed == DType::kFloat16 ? floating : PromoteFloats(needed, floating);
}

}  // namespace

size_t ElementSize(DType dtype) { return RowOf(dtype).size_bytes; }
absl::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }
DTypeKind KindOf(DType dtype) { return RowOf(dtype).kind; }

bool IsInteger(DType dtype) {
  return KindOf(dtype) == DTypeKind::kSigned || KindOf(dtype) == DTypeKind::kUnsigned;
}

bool IsOffered(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kUint8 || dtype == DType::kInt32 ||
         dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

DType FloatFor(DType dtype) {
  if (KindOf(dtype) >= DTypeKind::kFloat) return dtype;
  const size_t size_bytes = ElementSize(dtype);
  if (size_bytes == 1) return DType::kFloat16;
  return size_bytes == 2 ? DType::kFloat32 : DType::kFloat64;
}

DType RealPartOf(DType dtype) {
  if (KindOf(dtype) != DTypeKind::kComplex) return dtype;
  return OfKindAndSize(DTypeKind::kFloat, ElementSize(dtype) / 2);
}

DType Promote(DType a, DType b) {
  if (KindOf(a) > KindOf(b)) std::swap(a, b);
  if (KindOf(a) == DTypeKind::kBool) return b;
  if (KindOf(b) < DTypeKind::kFloat) return PromoteIntegers(a, b);
  if (KindOf(b) == DTypeKind::kFloat) {
    return IsFloating(a) ? PromoteFloats(a, b) : PromoteWithFloat(a, b);
  }
  const DType part = PromoteFloats(RealPartOf(b), RealPartOf(FloatFor(a)));
  return part == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

}  // namespace gpucall
