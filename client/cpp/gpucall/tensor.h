// Dense arrays: `Tensor` owns its elements, `TensorRef` points at somebody else's.
#ifndef GPUCALL_TENSOR_H_
#define GPUCALL_TENSOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gpucall/dtype.h"
#include "gpucall/memory.h"

namespace gpucall {
inline namespace client {

// Size of each dimension, outermost first; empty is a 0-d array of one element.
using Shape = std::vector<int64_t>;

// Bytes of the elements of such an array. INVALID_ARGUMENT: dtype is kUnspecified; a negative size;
// 2^63 or more.
absl::StatusOr<size_t> SizeBytes(DType dtype, const Shape& shape);

// A value: copies copy the elements. Elements are row-major, little-endian, and aligned for their
// type. There are always exactly as many as the shape says. Moving a Tensor invalidates spans and
// TensorRefs of it.
class Tensor {
 public:
  // No elements: shape (0), dtype kUnspecified.
  Tensor() = default;

  // Copies `elements`, row-major. INVALID_ARGUMENT: not as many as `shape` has; a negative size; a
  // size in bytes past 2^63.
  template <Element T>
  static absl::StatusOr<Tensor> From(Shape shape, absl::Span<const T> elements) {
    return FromBytes(kDTypeOf<T>, std::move(shape), BytesOf(elements));
  }
  // One dimension.
  template <Element T>
  static Tensor From(absl::Span<const T> elements) {
    return Tensor(kDTypeOf<T>, {static_cast<int64_t>(elements.size())}, Memory(BytesOf(elements)));
  }
  // A 0-d array.
  template <Element T>
  static Tensor Scalar(T value) {
    return Tensor(kDTypeOf<T>, {}, Memory(BytesOf(absl::Span<const T>(&value, 1))));
  }
  // Takes elements as bytes. INVALID_ARGUMENT: as From, or dtype is kUnspecified.
  static absl::StatusOr<Tensor> FromBytes(DType dtype, Shape shape, std::string bytes);
  // Takes memory that holds the elements. INVALID_ARGUMENT: as FromBytes.
  static absl::StatusOr<Tensor> FromMemory(DType dtype, Shape shape, Memory memory);
  // Elements that are still to be set, by mutable_data(). INVALID_ARGUMENT: as FromBytes.
  // RESOURCE_EXHAUSTED: this process has not so much memory.
  static absl::StatusOr<Tensor> Uninitialized(DType dtype, Shape shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return static_cast<int64_t>(memory_.size_bytes() / ElementSizeOrOne()); }
  absl::string_view bytes() const { return memory_.bytes(); }
  char* mutable_data() { return memory_.data(); }

  // The elements, row-major; valid until the Tensor is moved, assigned or destroyed.
  // INVALID_ARGUMENT: T is not the element type.
  template <Element T>
  absl::StatusOr<absl::Span<const T>> as() const {
    if (kDTypeOf<T> != dtype_) return WrongType(kDTypeOf<T>);
    return absl::Span<const T>(reinterpret_cast<const T*>(bytes().data()), count());
  }

 private:
  friend class TensorRef;
  Tensor(DType dtype, Shape shape, Memory memory)
      : dtype_(dtype), shape_(std::move(shape)), memory_(std::move(memory)) {}

  template <typename T>
  static std::string BytesOf(absl::Span<const T> elements) {
    return std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
  }
  size_t ElementSizeOrOne() const {
    return dtype_ == DType::kUnspecified ? 1 : ElementSize(dtype_);
  }
  absl::Status WrongType(DType wanted) const;

  DType dtype_ = DType::kUnspecified;
  Shape shape_ = {0};
  Memory memory_;
};

class TensorHandle;

// An argument of a call: a tensor that the server has, or elements owned elsewhere, read while the
// call is made (or the Request is built) and not afterwards. Not checked here: the server answers
// INVALID_ARGUMENT where the number of bytes is not what dtype and shape say.
class TensorRef {
 public:
  TensorRef(const Tensor& tensor)  // NOLINT: every call takes Tensors as they are
      : TensorRef(tensor.dtype(), tensor.shape(), tensor.bytes()) {}
  TensorRef(const TensorHandle& handle);  // NOLINT: the same; the handle must live until then
  // One dimension; for other shapes:
  template <Element T>
  explicit TensorRef(absl::Span<const T> elements)
      : TensorRef({static_cast<int64_t>(elements.size())}, elements) {}
  template <Element T>
  TensorRef(Shape shape, absl::Span<const T> elements)
      : TensorRef(kDTypeOf<T>, std::move(shape),
                  absl::string_view(reinterpret_cast<const char*>(elements.data()),
                                    elements.size() * sizeof(T))) {}
  TensorRef(DType dtype, Shape shape, absl::string_view bytes)
      : dtype_(dtype), shape_(std::move(shape)), bytes_(bytes) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // The elements, or the id of a TensorHandle.
  absl::string_view bytes() const { return bytes_; }
  bool is_resident() const { return is_resident_; }

 private:
  DType dtype_;
  Shape shape_;
  absl::string_view bytes_;
  bool is_resident_ = false;
};

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_TENSOR_H_
