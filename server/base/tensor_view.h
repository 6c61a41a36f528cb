// Arrays in host memory owned elsewhere.
#ifndef GPUCALL_SERVER_BASE_TENSOR_VIEW_H_
#define GPUCALL_SERVER_BASE_TENSOR_VIEW_H_

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

// Row-major elements, dense. `data` has no alignment: bytes of a message start anywhere.
struct TensorView {
  const void* data = nullptr;
  int64_t size_bytes = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_BASE_TENSOR_VIEW_H_
