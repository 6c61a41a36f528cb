#include "server/device/cpu_matmul.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/matmul.h"
#include "server/base/status_macros.h"
#include "server/device/cpu_broadcast.h"

namespace gpucall {
namespace {

// The elements of an operand, aligned for Real.
template <class Real>
absl::StatusOr<const Real*> Aligned(uint32_t value, const CpuValues& values, CpuMemory& memory) {
  const std::byte* data = values.data(value);
  if (reinterpret_cast<uintptr_t>(data) % alignof(Real) != 0) {
    const auto size_bytes = static_cast<size_t>(values.type(value).size_bytes());
    GPUCALL_ASSIGN_OR_RETURN(std::byte * copy, memory.Allocate(size_bytes));
    std::memcpy(copy, data, size_bytes);
    data = copy;
  }
  return reinterpret_cast<const Real*>(data);
}

absl::Span<const int64_t> BatchShape(const Shape& shape) {
  return absl::MakeConstSpan(shape).first(shape.size() - 2);
}

template <class Real>
absl::Status Run(const MatMulStep& step, const CpuValues& values, CpuMemory& memory) {
  GPUCALL_ASSIGN_OR_RETURN(const Real* a, Aligned<Real>(step.a, values, memory));
  GPUCALL_ASSIGN_OR_RETURN(const Real* b, Aligned<Real>(step.b, values, memory));
  auto* c = reinterpret_cast<Real*>(values.target(step.output));
  const auto batch = BatchShape(values.type(step.output).shape);
  const int64_t count = ElementCount(batch);
  if (count == 0) return absl::OkStatus();
  // Which matrix of a and of b each product takes; the element size is of no matter here.
  const BroadcastReader a_index(nullptr, 1, BatchShape(values.type(step.a).shape), batch);
  const BroadcastReader b_index(nullptr, 1, BatchShape(values.type(step.b).shape), batch);
  std::vector<cpu::MatMulOperands<Real>> operands(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    operands[static_cast<size_t>(i)] = {a + a_index.Offset(i) * step.m * step.k,
                                        b + b_index.Offset(i) * step.k * step.n,
                                        c + i * step.m * step.n};
  }
  const auto transpose = [](bool yes) { return yes ? cpu::Transpose::kYes : cpu::Transpose::kNo; };
  const cpu::MatMulShape shape = {step.m, step.n, step.k, transpose(step.attributes.transpose_a),
                                  transpose(step.attributes.transpose_b)};
  if (!cpu::MatMul(shape, operands)) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul: sizes m ", step.m, ", n ", step.n, ", k ", step.k,
                     ", the largest allowed on this device is 2147483647"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunMatMul(const MatMulStep& step, const CpuValues& values, CpuMemory& memory) {
  return values.type(step.output).dtype == DType::kFloat64 ? Run<double>(step, values, memory)
                                                           : Run<float>(step, values, memory);
}

}  // namespace gpucall
