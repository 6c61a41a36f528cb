#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/matmul.h"
#include "server/base/status_macros.h"
#include "server/device/cpu_broadcast.h"
#include "server/device/cpu_step.h"

namespace gpucall {
namespace {

// The elements of an operand, aligned for their type where kernels ask for it.
absl::StatusOr<const std::byte*> Aligned(uint32_t value, const CpuValues& values,
                                         CpuMemory& memory) {
  const std::byte* const data = values.data(value);
  const DType dtype = values.type(value).dtype;
  const size_t alignment = std::min<size_t>(ElementSize(dtype), alignof(double));
  if (reinterpret_cast<uintptr_t>(data) % alignment == 0) return data;
  const auto size_bytes = static_cast<size_t>(values.type(value).size_bytes());
  GPUCALL_ASSIGN_OR_RETURN(std::byte * copy, memory.Allocate(size_bytes));
  std::memcpy(copy, data, size_bytes);
  return copy;
}

cpu::Product ProductOf(const MatMulStep& step, const CpuValues& values) {
  const auto transpose = [](bool yes) { return yes ? cpu::Transpose::kYes : cpu::Transpose::kNo; };
  const auto type = [&](uint32_t value) { return ElementTypeOf(values.type(value).dtype); };
  const MatMulAttributes& attributes = step.attributes;
  cpu::Product product = {.shape = {step.m, step.n, step.k, transpose(attributes.transpose_a),
                                    transpose(attributes.transpose_b)},
                          .a_type = type(step.a),
                          .b_type = type(step.b),
                          .out_type = type(step.output),
                          .alpha = attributes.alpha,
                          .beta = attributes.beta,
                          .relu = attributes.activation == Activation::kRelu};
  if (step.c != MatMulStep::kNone) {
    product.c_row_stride = step.c_strides.end()[-2];
    product.c_column_stride = step.c_strides.back();
  }
  return product;
}

// Where c is for product `index`, in elements.
int64_t OffsetOfC(const MatMulStep& step, int64_t index) {
  int64_t offset = 0;
  for (size_t d = step.batch.size(); d-- > 0;) {
    offset += index % step.batch[d] * step.c_strides[d];
    index /= step.batch[d];
  }
  return offset;
}

}  // namespace

absl::Status RunOnCpu(const MatMulStep& step, const CpuValues& values, CpuMemory& memory) {
  const int64_t count = ElementCount(step.batch);
  if (count == 0 || step.m == 0 || step.n == 0) return absl::OkStatus();
  GPUCALL_ASSIGN_OR_RETURN(const std::byte* a, Aligned(step.a, values, memory));
  GPUCALL_ASSIGN_OR_RETURN(const std::byte* b, Aligned(step.b, values, memory));
  const auto bytes = [&](uint32_t value) {
    return static_cast<int64_t>(ElementSize(values.type(value).dtype));
  };
  // Which matrix of a and of b each product takes; the element size is of no matter here.
  const BroadcastReader a_index(nullptr, 1, step.a_batch, step.batch);
  const BroadcastReader b_index(nullptr, 1, step.b_batch, step.batch);
  std::vector<cpu::ProductOperands> operands(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    cpu::ProductOperands& product = operands[static_cast<size_t>(i)];
    product = {.a = a + a_index.Offset(i) * step.m * step.k * bytes(step.a),
               .b = b + b_index.Offset(i) * step.k * step.n * bytes(step.b),
               .c = nullptr,
               .bias = nullptr,
               .out = values.target(step.output) + i * step.m * step.n * bytes(step.output)};
    if (step.c != MatMulStep::kNone) {
      product.c = values.data(step.c) + OffsetOfC(step, i) * bytes(step.c);
    }
    if (step.bias != MatMulStep::kNone) product.bias = values.data(step.bias);
  }
  const cpu::Product product = ProductOf(step, values);
  GPUCALL_ASSIGN_OR_RETURN(std::byte * scratch, memory.Allocate(cpu::ScratchBytes(product)));
  if (!cpu::Multiply(product, operands, scratch)) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul: sizes m ", step.m, ", n ", step.n, ", k ", step.k,
                     ", the largest allowed on this device is 2147483647"));
  }
  return absl::OkStatus();
}

}  // namespace gpucall
