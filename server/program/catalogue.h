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

enum class OperationKind : uint8_t {
  kElementwise,
  kMatMul,
  kFilter,
  kReduce,
  kRearrange,
  kSort,
  kScan,
  kTake,
  kCreation,
  kImage,
  kNetwork,
  kSignal
};

struct CatalogueRow {
  absl::string_view name;  // "multiply_add", "matmul", "gaussian"
  OperationKind kind;
  int inputs;                      // at least: concatenate and stack take more
  absl::Span<const DType> dtypes;  // accepted for the first input; of creations: made
  absl::string_view description;
};
// All rows: elementwise operations in the order of ElementwiseOp, matmul, filters in that of
// FilterKind, reductions of ReduceOp, rearrangements of RearrangeKind, sort, scans of ScanOp, take,
// take_along_axis, creations of CreationKind, images of ImageKind, networks
// of NetworkKind, signals of SignalKind. Lives forever.
absl::Span<const CatalogueRow> Catalogue();

const CatalogueRow& RowOf(ElementwiseOp op);
const CatalogueRow& RowOf(FilterKind kind);
const CatalogueRow& RowOf(ReduceOp op);
const CatalogueRow& RowOf(RearrangeKind kind);
const CatalogueRow& RowOf(ScanOp op);
const CatalogueRow& RowOf(const TakeAttributes& attributes);
const CatalogueRow& RowOf(CreationKind kind);
const CatalogueRow& RowOf(ImageKind kind);  // of a part of a composite operation: some row
const CatalogueRow& RowOf(NetworkKind kind);
const CatalogueRow& RowOf(SignalKind kind);
const CatalogueRow& RowOf(OperationKind kind);  // the first of the kind
// UNIMPLEMENTED, naming operation and dtype, where the row does not have the dtype.
absl::Status CheckOffered(const CatalogueRow& row, DType dtype);
// Its expression in kernels/elementwise_functions.h and those beside it: "MultiplyAdd".
absl::string_view FunctionName(ElementwiseOp op);
bool GivesElements(ReduceOp op);              // one for each of the input's, not for each line
absl::string_view FunctionName(ReduceOp op);  // in kernels/reduce_functions.h: "ArgMax"
// True for integer powers, whose exponents must be checked.
bool MayFault(ElementwiseOp op, DType computed_in);
// True where operand `index` is a condition: it becomes a bool, whatever the others become.
bool IsCondition(ElementwiseOp op, size_t index);

struct ElementwiseTypes {
  DType computed_in;  // operands are converted to it, but for conditions and what kCast casts
  DType result;
};
// The dtypes of `op` for operands of the given dtypes. `cast_to` is of kCast only.
// INVALID_ARGUMENT, naming operation, dtype and what is allowed: NumPy refuses the dtypes.
absl::StatusOr<ElementwiseTypes> InferElementwise(ElementwiseOp op,
                                                  absl::Span<const DType> operands,
                                                  DType cast_to = DType::kUnspecified);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_PROGRAM_CATALOGUE_H_
