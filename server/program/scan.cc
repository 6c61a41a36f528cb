#include "server/program/scan.h"

#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

DType ResultDType(DType dtype) {
  if (IsFloating(dtype)) return dtype;
  return KindOf(dtype) == DTypeKind::kUnsigned ? DType::kUint64 : DType::kInt64;
}

}  // namespace

absl::StatusOr<ScanLowering> LowerScan(const ScanAttributes& attributes, const TensorType& x) {
  const CatalogueRow& row = RowOf(attributes.op);
  GPUCALL_RETURN_IF_ERROR(CheckOffered(row, x.dtype));
  ScanLowering result;
  GPUCALL_ASSIGN_OR_RETURN(result.step.lines, LinesAt(row.name, x.shape, attributes.axis));
  result.step.op = attributes.op;
  result.step.axis = attributes.axis;
  result.output.dtype = ResultDType(x.dtype);
  result.output.shape = attributes.axis.has_value() ? x.shape : Shape{result.step.lines.count};
  return result;
}

}  // namespace gpucall
