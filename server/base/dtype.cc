#include "server/base/dtype.h"

#include <algorithm>
#include <array>

namespace gpucall {
namespace {

struct Row {
  absl::string_view name;
  size_t size;
};
constexpr std::array<Row, kDTypeCount> kRows = {{
    {"unspecified", 0},
    {"bool", 1},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"complex64", 8},
    {"complex128", 16},
}};

}  // namespace

size_t ElementSize(DType dtype) { return kRows[static_cast<size_t>(dtype)].size; }
absl::string_view DTypeName(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

bool IsFloating(DType dtype) { return dtype >= DType::kFloat16 && dtype <= DType::kFloat64; }

bool IsOffered(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kUint8 || dtype == DType::kInt32 ||
         dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

DType Promote(DType a, DType b) {
  const auto [low, high] = std::minmax(a, b);
  // Of the offered dtypes only int32 with float32 gives neither operand's dtype.
  if (low == DType::kInt32 && high == DType::kFloat32) return DType::kFloat64;
  return high;
}

}  // namespace gpucall
