#include "gpucall/tensor.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gpucall {
inline namespace client {
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

absl::StatusOr<size_t> SizeBytes(DType dtype, const Shape& shape) {
  if (dtype == DType::kUnspecified) return absl::InvalidArgumentError("dtype is unspecified");
  int64_t size = static_cast<int64_t>(ElementSize(dtype));
  for (int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(size, dimension, &size)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shape (", absl::StrJoin(shape, ", "), ") has a size that is not allowed: ", dimension));
    }
  }
  return static_cast<size_t>(size);
}

absl::StatusOr<Tensor> Tensor::FromBytes(DType dtype, Shape shape, std::string bytes) {
  return FromMemory(dtype, std::move(shape), Memory(std::move(bytes)));
}

absl::StatusOr<Tensor> Tensor::FromMemory(DType dtype, Shape shape, Memory memory) {
  const absl::StatusOr<size_t> size = SizeBytes(dtype, shape);
  if (!size.ok()) return size.status();
  if (*size != memory.size_bytes()) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape (", absl::StrJoin(shape, ", "), ") of ", DTypeName(dtype), " needs ",
                     *size, " bytes of elements, got ", memory.size_bytes()));
  }
  return Tensor(dtype, std::move(shape), std::move(memory));
}

absl::StatusOr<Tensor> Tensor::Uninitialized(DType dtype, Shape shape) {
  const absl::StatusOr<size_t> size = SizeBytes(dtype, shape);
  if (!size.ok()) return size.status();
  Memory memory = Memory::Uninitialized(*size);
  if (memory.data() == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for the ", *size, " bytes of shape (", absl::StrJoin(shape, ", "),
                     ") of ", DTypeName(dtype)));
  }
  return Tensor(dtype, std::move(shape), std::move(memory));
}

absl::Status Tensor::WrongType(DType wanted) const {
  return absl::InvalidArgumentError(absl::StrCat("elements are ", DTypeName(dtype_),
                                                 ", they were asked for as ", DTypeName(wanted)));
}

}  // namespace client
}  // namespace gpucall
