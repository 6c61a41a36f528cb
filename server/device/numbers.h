// Dtypes as kernels know them.
#ifndef GPUCALL_SERVER_DEVICE_NUMBERS_H_
#define GPUCALL_SERVER_DEVICE_NUMBERS_H_

#include "kernels/numbers.h"
#include "kernels/sort_keys.h"
#include "server/base/dtype.h"

namespace gpucall {

// REQUIRES: a real dtype.
inline Numbers NumbersOf(DType dtype) {
  switch (KindOf(dtype)) {
    case DTypeKind::kBool:
      return Numbers::kBool;
    case DTypeKind::kSigned:
      return Numbers::kSigned;
    case DTypeKind::kFloat:
      return Numbers::kFloat;
    default:
      return Numbers::kUnsigned;
  }
}

// How its elements are ordered. REQUIRES: a real dtype.
inline sort::KeyRule KeyRuleOf(DType dtype, bool descending) {
  sort::KeyRule rule = {.numbers = NumbersOf(dtype), .descending = descending};
  if (dtype == DType::kFloat16) rule.infinity = 0x7c00;
  if (dtype == DType::kBfloat16) rule.infinity = 0x7f80;
  if (dtype == DType::kFloat32) rule.infinity = 0x7f800000;
  if (dtype == DType::kFloat64) rule.infinity = 0x7ff0000000000000;
  return rule;
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_NUMBERS_H_
