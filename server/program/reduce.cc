#include "server/program/reduce.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

enum class Result { kSame, kSum, kReal, kBool, kIndex };
enum class Size { kLine, kElement };
enum class Empty { kIdentity, kRefuse };

struct Rules {
  Result result;
  Size size;
  Empty empty;
};
constexpr Rules kRules[] = {
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) \
  {Result::result, Size::size, Empty::empty},
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
};

absl::Status CheckParameter(const CatalogueRow& row, const ReduceAttributes& attributes) {
  const double parameter = attributes.parameter;
  const auto invalid = [&](absl::string_view name, absl::string_view allowed) {
    return absl::InvalidArgumentError(
        absl::StrCat(row.name, ": ", name, " is ", parameter, ", allowed is ", allowed));
  };
  if (attributes.op == ReduceOp::kNorm) {
    if (std::isnan(parameter)) return invalid("order", "any number, infinities too");
  } else if (attributes.op == ReduceOp::kLayerNorm) {
    if (!(parameter >= 0) || std::isinf(parameter)) return invalid("epsilon", "0 or more");
  } else if (!std::isfinite(parameter)) {
    return invalid("correction", "any finite number");
  }
  return absl::OkStatus();
}

absl::Status CheckEmpty(const CatalogueRow& row, const ReduceAttributes& attributes, bool refuses,
                        const Lines& lines, const TensorType& x) {
  if (attributes.op == ReduceOp::kNorm) {
    refuses = std::isinf(attributes.parameter) && attributes.parameter < 0;
  }
  if (!refuses || lines.elements.count() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(row.name, ": x of shape ", ShapeString(x.shape),
                                                 " has no elements along the axes, at least one ",
                                                 "is needed"));
}

}  // namespace

DType ReducedIn(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kUint16:
      return DType::kInt32;
    case DType::kUint32:
      return DType::kUint64;
    case DType::kFloat16:
    case DType::kBfloat16:
      return DType::kFloat32;
    default:
      return dtype;
  }
}

DType ReduceResult(ReduceOp op, DType dtype) {
  switch (kRules[static_cast<size_t>(op)].result) {
    case Result::kSame:
      return dtype;
    case Result::kSum:
      if (IsFloating(dtype)) return dtype;
      return KindOf(dtype) == DTypeKind::kUnsigned ? DType::kUint64 : DType::kInt64;
    case Result::kReal:
      return IsFloating(dtype) ? dtype : DType::kFloat64;
    case Result::kBool:
      return DType::kBool;
    case Result::kIndex:
      return DType::kInt64;
  }
  return dtype;
}

absl::StatusOr<ReduceLowering> LowerReduce(const ReduceAttributes& attributes,
                                           const TensorType& x) {
  const CatalogueRow& row = RowOf(attributes.op);
  const Rules& rules = kRules[static_cast<size_t>(attributes.op)];
  GPUCALL_RETURN_IF_ERROR(CheckOffered(row, x.dtype));
  GPUCALL_RETURN_IF_ERROR(CheckParameter(row, attributes));
  absl::InlinedVector<bool, kMaxRank> along(x.shape.size(), true);
  if (attributes.axes.has_value()) {
    GPUCALL_ASSIGN_OR_RETURN(along, CheckedAxes(row.name, *attributes.axes, x.shape.size()));
    const bool finds = attributes.op == ReduceOp::kArgMin || attributes.op == ReduceOp::kArgMax;
    if (finds && attributes.axes->size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(row.name, ": has ", attributes.axes->size(),
                                                     " axes, allowed are one, or all"));
    }
  }
  ReduceLowering result;
  const Lines lines = LinesAlong(x.shape, along);
  GPUCALL_RETURN_IF_ERROR(CheckEmpty(row, attributes, rules.empty == Empty::kRefuse, lines, x));
  result.step.op = attributes.op;
  result.step.parameter = attributes.parameter;
  result.step.lines = lines;
  result.output.dtype = ReduceResult(attributes.op, x.dtype);
  result.step.along = 0;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (along[d]) result.step.along |= static_cast<uint8_t>(1u << d);
    if (!along[d] || rules.size == Size::kElement) {
      result.output.shape.push_back(x.shape[d]);
    } else if (attributes.keepdims) {
      result.output.shape.push_back(1);
    }
  }
  return result;
}

}  // namespace gpucall
