#include "server/program/inference.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"
#include "server/program/creation.h"
#include "server/program/filter.h"
#include "server/program/filter_nd.h"
#include "server/program/image.h"
#include "server/program/matmul.h"
#include "server/program/network.h"
#include "server/program/rearrange.h"
#include "server/program/reduce.h"
#include "server/program/scan.h"
#include "server/program/signal.h"
#include "server/program/sort.h"
#include "server/program/take.h"

namespace gpucall {
namespace {

using Operands = absl::Span<const TensorType* const>;

// `which` names the wanted operands where they have names.
absl::Status CheckOperandCount(absl::string_view name, size_t got, size_t wanted,
                               absl::string_view which = "") {
  if (got == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": got ", got, " inputs, needs ", wanted, which));
}

absl::StatusOr<TensorType> InferElementwise(ElementwiseOp op, Operands operands, DType cast_to) {
  const CatalogueRow& row = RowOf(op);
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(row.name, operands.size(), row.inputs));
  absl::InlinedVector<DType, 3> dtypes;
  TensorType result;
  for (const TensorType* operand : operands) {
    dtypes.push_back(operand->dtype);
    absl::StatusOr<Shape> shape = BroadcastShapes(result.shape, operand->shape);
    if (!shape.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(row.name, ": ", shape.status().message()));
    }
    result.shape = *std::move(shape);
  }
  GPUCALL_ASSIGN_OR_RETURN(const ElementwiseTypes types, InferElementwise(op, dtypes, cast_to));
  result.dtype = types.result;
  return result;
}

absl::StatusOr<TensorType> Infer(ElementwiseOp op, Operands operands) {
  return InferElementwise(op, operands, DType::kUnspecified);
}
absl::StatusOr<TensorType> Infer(const CastAttributes& attributes, Operands operands) {
  return InferElementwise(ElementwiseOp::kCast, operands, attributes.dtype);
}

absl::StatusOr<TensorType> Infer(const MatMulAttributes& attributes, Operands operands) {
  GPUCALL_ASSIGN_OR_RETURN(MatMulLowering lowering, LowerMatMul(attributes, operands));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const NdFilterAttributes& attributes, Operands operands) {
  const CatalogueRow& row = RowOf(attributes.kind);
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(row.name, operands.size(), row.inputs,
                                            row.inputs == 2 ? " (image, kernel)" : " (image)"));
  GPUCALL_ASSIGN_OR_RETURN(
      const NdFilter filter,
      CheckNdFilter(attributes, *operands[0], row.inputs == 2 ? operands[1] : nullptr));
  return TensorType{filter.output, operands[0]->shape};
}

// What filters expand to is right already.
absl::StatusOr<TensorType> Infer(const LineFilterAttributes& attributes, Operands operands) {
  const bool sums = attributes.op == LineFilterAttributes::Op::kSum;
  return TensorType{sums ? attributes.output_dtype : operands[0]->dtype, operands[0]->shape};
}
absl::StatusOr<TensorType> Infer(const WindowFilterAttributes& attributes, Operands operands) {
  const bool sums = attributes.form == WindowFilterAttributes::Form::kSum;
  return TensorType{sums ? attributes.output_dtype : operands[0]->dtype, operands[0]->shape};
}

absl::StatusOr<TensorType> Infer(const FilterAttributes& attributes, Operands operands) {
  const CatalogueRow& row = RowOf(attributes.kind);
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(row.name, operands.size(), row.inputs,
                                            row.inputs == 2 ? " (image, kernel)" : " (image)"));
  GPUCALL_ASSIGN_OR_RETURN(
      FilterLowering lowering,
      LowerFilter(attributes, *operands[0], row.inputs == 2 ? operands[1] : nullptr));
  return TensorType{lowering.output_dtype, operands[0]->shape};
}

absl::StatusOr<TensorType> Infer(const ReduceAttributes& attributes, Operands operands) {
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(RowOf(attributes.op).name, operands.size(), 1, " (x)"));
  GPUCALL_ASSIGN_OR_RETURN(ReduceLowering lowering, LowerReduce(attributes, *operands[0]));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const RearrangeAttributes& attributes, Operands operands) {
  GPUCALL_ASSIGN_OR_RETURN(RearrangeLowering lowering, LowerRearrange(attributes, operands));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const SortAttributes& attributes, Operands operands) {
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount("sort", operands.size(), 1, " (x)"));
  GPUCALL_ASSIGN_OR_RETURN(SortLowering lowering, LowerSort(attributes, *operands[0]));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const ScanAttributes& attributes, Operands operands) {
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(RowOf(attributes.op).name, operands.size(), 1, " (x)"));
  GPUCALL_ASSIGN_OR_RETURN(ScanLowering lowering, LowerScan(attributes, *operands[0]));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const TakeAttributes& attributes, Operands operands) {
  GPUCALL_RETURN_IF_ERROR(
      CheckOperandCount(RowOf(attributes).name, operands.size(), 2, " (x, indices)"));
  GPUCALL_ASSIGN_OR_RETURN(TakeLowering lowering,
                           LowerTake(attributes, *operands[0], *operands[1]));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const CreationAttributes& attributes, Operands operands) {
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(RowOf(attributes.kind).name, operands.size(), 0));
  GPUCALL_RETURN_IF_ERROR(CheckCreation(attributes));
  return TensorType{attributes.dtype, attributes.shape};
}

absl::StatusOr<TensorType> Infer(const ImageAttributes& attributes, Operands operands) {
  const size_t wanted = OperandCount(attributes.kind);
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(RowOf(attributes.kind).name, operands.size(), wanted,
                                            wanted == 1 ? " (image)" : ""));
  GPUCALL_ASSIGN_OR_RETURN(ImageLowering lowering, LowerImage(attributes, operands));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const NetworkAttributes& attributes, Operands operands) {
  GPUCALL_ASSIGN_OR_RETURN(NetworkLowering lowering, LowerNetwork(attributes, operands));
  return std::move(lowering.output);
}

absl::StatusOr<TensorType> Infer(const SignalAttributes& attributes, Operands operands) {
  GPUCALL_ASSIGN_OR_RETURN(SignalLowering lowering, LowerSignal(attributes, operands));
  return std::move(lowering.output);
}

}  // namespace

absl::StatusOr<TensorType> InferType(const Operation& operation, Operands operands) {
  if (!operands.empty()) {
    const auto filter = AsNdFilter(operation, operands[0]->dtype);
    if (filter.has_value()) return Infer(*filter, operands);
  }
  return std::visit([&](const auto& attributes) { return Infer(attributes, operands); },
                    operation.attributes);
}

}  // namespace gpucall
