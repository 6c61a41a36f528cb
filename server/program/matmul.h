// From attributes of matrix products to sizes and where operands are.
#ifndef GPUCALL_SERVER_PROGRAM_MATMUL_H_
#define GPUCALL_SERVER_PROGRAM_MATMUL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

struct MatMulLowering {
  MatMulStep step;  // values are indices of operands; activation only kNone or kRelu
  TensorType output;
};

// Operands are (a, b), then c and bias where `attributes` has them. INVALID_ARGUMENT: their number,
// dtypes or shapes, or attributes that the dtype does not have; UNIMPLEMENTED: bool. Messages name
// the argument, what it was and what is allowed.
absl::StatusOr<MatMulLowering> LowerMatMul(const MatMulAttributes& attributes,
                                           absl::Span<const TensorType* const> operands);

// The operations that together are `operation`, a product: itself, or casts to one dtype, the
// product, and an activation that products do not have. The first makes value number `next`, each
// one more; the last makes the result. REQUIRES: LowerMatMul accepts it.
std::vector<Operation> ExpandMatMul(const Operation& operation, absl::Span<const DType> operands,
                                    uint32_t next);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_MATMUL_H_
