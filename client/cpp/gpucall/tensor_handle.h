// Tensors that stay on a server.
#ifndef GPUCALL_TENSOR_HANDLE_H_
#define GPUCALL_TENSOR_HANDLE_H_

#include <memory>
#include <string>
#include <utility>

#include "gpucall/tensor.h"

namespace gpucall {
inline namespace client {

class TensorOwner;

// Made by Client::Put and Client::CallAndKeep; an argument of any call to the same server. Copies
// name the same tensor, which the server frees with the last of them; that does not block. The
// server frees it by itself some time after it has lost the connection. Thread-safe.
class TensorHandle {
 public:
  // Names no tensor: the server answers INVALID_ARGUMENT.
  TensorHandle() = default;
  // Of the library.
  TensorHandle(std::shared_ptr<const TensorOwner> owner, DType dtype, Shape shape)
      : owner_(std::move(owner)), dtype_(dtype), shape_(std::move(shape)) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // What it is called on the wire: 16 bytes. Valid as long as the TensorHandle.
  absl::string_view id() const;

 private:
  std::shared_ptr<const TensorOwner> owner_;
  DType dtype_ = DType::kUnspecified;
  Shape shape_ = {0};
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_TENSOR_HANDLE_H_
