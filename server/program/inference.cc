#include "server/program/inference.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"
#include "server/program/filter.h"
#include "server/program/image.h"
#include "server/program/rearrange.h"
#include "server/program/reduce.h"
#include "server/program/scan.h"
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

absl::Status CheckMatMulOperands(const TensorType& a, const TensorType& b) {
  for (const auto& [name, type] : {std::pair("a", &a), std::pair("b", &b)}) {
    if (type->shape.size() < 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("matmul: ", name, " has rank ", type->shape.size(), " (shape ",
                       ShapeString(type->shape), "), allowed is 2 to ", kMaxRank));
    }
  }
  const bool offered = a.dtype == DType::kFloat32 || a.dtype == DType::kFloat64;
  if (a.dtype != b.dtype || !offered) {
    return absl::UnimplementedError(
        absl::StrCat("matmul: dtypes ", DTypeName(a.dtype), " and ", DTypeName(b.dtype),
                     " are not offered, both must be float32 or float64"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorType> Infer(const MatMulAttributes& attributes, Operands operands) {
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount("matmul", operands.size(), 2, " (a, b)"));
  const TensorType &a = *operands[0], &b = *operands[1];
  GPUCALL_RETURN_IF_ERROR(CheckMatMulOperands(a, b));
  const auto outer = [](const TensorType& type) {
    return absl::MakeConstSpan(type.shape).first(type.shape.size() - 2);
  };
  const auto side = [](const TensorType& type, bool transposed, bool last) {
    return type.shape[type.shape.size() - (transposed == last ? 2 : 1)];
  };
  const int64_t m = side(a, attributes.transpose_a, false),
                ka = side(a, attributes.transpose_a, true);
  const int64_t kb = side(b, attributes.transpose_b, false),
                n = side(b, attributes.transpose_b, true);
  const auto with_transpose = [](const TensorType& type, bool transposed) {
    return absl::StrCat(ShapeString(type.shape), transposed ? " transposed" : "");
  };
  if (ka != kb) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul: inner dimensions differ, ", ka, " of a ",
                     with_transpose(a, attributes.transpose_a), " against ", kb, " of b ",
                     with_transpose(b, attributes.transpose_b)));
  }
  absl::StatusOr<Shape> batch = BroadcastShapes(outer(a), outer(b));
  if (!batch.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("matmul: batch ", batch.status().message(),
                                                   " (a ", ShapeString(a.shape), ", b ",
                                                   ShapeString(b.shape), ")"));
  }
  TensorType result{a.dtype, *std::move(batch)};
  if (result.shape.size() + 2 > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul: result has over ", kMaxRank, " dimensions"));
  }
  result.shape.push_back(m);
  result.shape.push_back(n);
  return result;
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

absl::StatusOr<TensorType> Infer(const ImageAttributes& attributes, Operands operands) {
  const size_t wanted = OperandCount(attributes.kind);
  GPUCALL_RETURN_IF_ERROR(CheckOperandCount(RowOf(attributes.kind).name, operands.size(), wanted,
                                            wanted == 1 ? " (image)" : ""));
  GPUCALL_ASSIGN_OR_RETURN(ImageLowering lowering, LowerImage(attributes, operands));
  return std::move(lowering.output);
}

}  // namespace

absl::StatusOr<TensorType> InferType(const Operation& operation, Operands operands) {
  return std::visit([&](const auto& attributes) { return Infer(attributes, operands); },
                    operation.attributes);
}

}  // namespace gpucall
