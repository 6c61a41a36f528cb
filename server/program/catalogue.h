// The operations offered, one row each.
#ifndef GPUCALL_SERVER_PROGRAM_CATALOGUE_H_
#define GPUCALL_SERVER_PROGRAM_CATALOGUE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/dtype.h"
#include "server/program/program.h"

namespace gpucall {

enum class OperationKind : uint8_t { kElementwise, kMatMul, kFilter, kReduce, kRearrange };

struct CatalogueRow {
  absl::string_view name;  // "multiply_add", "matmul", "gaussian"
  OperationKind kind;
  int inputs;                      // at least: concatenate and stack take more
  absl::Span<const DType> dtypes;  // accepted for the first input
  absl::string_view description;
};
// All rows, elementwise operations first in the order of ElementwiseOp, then matmul, then filters
// in the order of FilterKind, then reductions in the order of ReduceOp, then
// rearrangements in the order of RearrangeKind. Lives forever.
absl::Span<const CatalogueRow> Catalogue();

const CatalogueRow& RowOf(ElementwiseOp op);
const CatalogueRow& RowOf(FilterKind kind);
const CatalogueRow& RowOf(ReduceOp op);
const CatalogueRow& RowOf(RearrangeKind kind);
// UNIMPLEMENTED, naming operation and dtype, where the row does not have the dtype.
absl::Status CheckOffered(const CatalogueRow& row, DType dtype);
absl::string_view FunctionName(
    ElementwiseOp op);            // its template in kernels/elementwise_functions.h: "MultiplyAdd"
bool GivesElements(ReduceOp op);  // one for each of the input's, not for each line
absl::string_view FunctionName(ReduceOp op);  // in kernels/reduce_functions.h: "ArgMax"
bool MayFault(ElementwiseOp op, DType computed_in);

// dtype that `op` computes in, which is its result's, for operands of the given dtypes.
// INVALID_ARGUMENT: NumPy refuses the dtype. UNIMPLEMENTED: not offered. Both name operation,
// argument and dtype.
absl::StatusOr<DType> ComputeDType(ElementwiseOp op, absl::Span<const DType> operands);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_CATALOGUE_H_
