// What arrays are, apart from their elements.
#ifndef GPUCALL_SERVER_BASE_TENSOR_TYPE_H_
#define GPUCALL_SERVER_BASE_TENSOR_TYPE_H_

#include <cstdint>

#include "server/base/dtype.h"
#include "server/base/shape.h"

namespace gpucall {

// What a tensor is, without its elements.
struct TensorType {
  DType dtype = DType::kUnspecified;
  Shape shape;

  // REQUIRES (both): CheckedSizeBytes accepted dtype and shape.
  int64_t count() const { return ElementCount(shape); }
  int64_t size_bytes() const { return count() * static_cast<int64_t>(ElementSize(dtype)); }
  bool operator==(const TensorType&) const = default;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_BASE_TENSOR_TYPE_H_
