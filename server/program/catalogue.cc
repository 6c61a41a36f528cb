#include "server/program/catalogue.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/elementwise_rules.h"
#include "server/program/catalogue_rows.h"

namespace gpucall {
namespace {

struct ElementwiseRow {
  absl::string_view function;
  absl::string_view name;
  int arity;
  ElementwiseTakes::Kinds takes;
  ElementwiseRule rule;
  ElementwiseResult result;
  absl::string_view description;
};
constexpr ElementwiseRow kElementwise[] = {
#define GPUCALL_ELEMENTWISE(Function, name, arity, takes, rule, result, description) \
  {#Function,                                                                        \
   #name,                                                                            \
   arity,                                                                            \
   ElementwiseTakes::takes,                                                          \
   ElementwiseRule::rule,                                                            \
   ElementwiseResult::result,                                                        \
   description},
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

bool Takes(const ElementwiseRow& row, DType dtype) {
  switch (KindOf(dtype)) {
    case DTypeKind::kNone:
      return false;
    case DTypeKind::kBool:
      return (row.takes & ElementwiseTakes::kB) != 0;
    case DTypeKind::kUnsigned:
    case DTypeKind::kSigned:
      return (row.takes & ElementwiseTakes::kI) != 0;
    case DTypeKind::kFloat:
      return (row.takes & ElementwiseTakes::kF) != 0;
    case DTypeKind::kComplex:
      return (row.takes & (ElementwiseTakes::kFC & ~ElementwiseTakes::kF)) != 0;
  }
  return false;
}

// The first dtype that the operation takes and NumPy casts `dtype` to, that of `operands` together;
// kUnspecified if none. Integers become floats each for itself: int8 and uint8 float16.
DType ComputedIn(const ElementwiseRow& row, absl::Span<const DType> operands, DType dtype) {
  if (row.rule == ElementwiseRule::kTruth) return DType::kBool;
  if (row.rule == ElementwiseRule::kDivide && KindOf(dtype) < DTypeKind::kFloat) {
    return DType::kFloat64;
  }
  if (dtype == DType::kBool && row.rule == ElementwiseRule::kNumbers) return DType::kUnspecified;
  if (Takes(row, dtype)) return dtype;
  if (dtype == DType::kBool && Takes(row, DType::kInt8)) return DType::kInt8;
  DType floating = FloatFor(operands[0]);
  for (DType operand : operands.subspan(1)) floating = Promote(floating, FloatFor(operand));
  return Takes(row, floating) ? floating : DType::kUnspecified;
}

// Of a first operand, with all of its kind.
const std::vector<DType>& AcceptedDTypes(const ElementwiseRow& row) {
  static const auto& lists = *new std::vector<std::vector<DType>>([] {
    std::vector<std::vector<DType>> made;
    for (const ElementwiseRow& of : kElementwise) {
      std::vector<DType>& dtypes = made.emplace_back();
      for (int i = 1; i < kDTypeCount; ++i) {
        const bool any = of.rule == ElementwiseRule::kSelect;
        const auto dtype = static_cast<DType>(i);
        if (any || ComputedIn(of, {dtype}, dtype) != DType::kUnspecified) dtypes.push_back(dtype);
      }
    }
    return made;
  }());
  return lists[static_cast<size_t>(&row - kElementwise)];
}

std::vector<CatalogueRow> MakeRows() {
  std::vector<CatalogueRow> rows;
  for (const ElementwiseRow& row : kElementwise) {
    rows.push_back(
        {row.name, OperationKind::kElementwise, row.arity, AcceptedDTypes(row), row.description});
  }
  rows.insert(rows.end(), FurtherRows().begin(), FurtherRows().end());
  return rows;
}

std::string NamesOf(absl::Span<const DType> dtypes) {
  return absl::StrJoin(
      dtypes, ", ", [](std::string* out, DType dtype) { absl::StrAppend(out, DTypeName(dtype)); });
}

absl::Status Refusal(const ElementwiseRow& row, absl::Span<const DType> operands, DType promoted) {
  const std::string of =
      operands.size() == 1
          ? absl::StrCat("dtype ", DTypeName(promoted))
          : absl::StrCat("dtypes ", NamesOf(operands), " (together ", DTypeName(promoted), ")");
  return absl::InvalidArgumentError(absl::StrCat(
      row.name, ": ", of, " cannot be taken, allowed are ", NamesOf(AcceptedDTypes(row))));
}

size_t FirstRow(OperationKind kind) {
  const absl::Span<const CatalogueRow> rows = Catalogue();
  const auto found = absl::c_find_if(rows, [&](const auto& row) { return row.kind == kind; });
  return static_cast<size_t>(found - rows.begin());
}

const ElementwiseRow& ElementwiseRowOf(ElementwiseOp op) {
  return kElementwise[static_cast<size_t>(op)];
}

}  // namespace

absl::Span<const CatalogueRow> Catalogue() {
  static const auto& rows = *new std::vector<CatalogueRow>(MakeRows());
  return rows;
}

const CatalogueRow& RowOf(ElementwiseOp op) { return Catalogue()[static_cast<size_t>(op)]; }

const CatalogueRow& RowOf(FilterKind kind) {
  return Catalogue()[std::size(kElementwise) + 1 + static_cast<size_t>(kind)];
}

const CatalogueRow& RowOf(ReduceOp op) {
  static const size_t first = FirstRow(OperationKind::kReduce);
  return Catalogue()[first + static_cast<size_t>(op)];
}

const CatalogueRow& RowOf(RearrangeKind kind) {
  static const size_t first = FirstRow(OperationKind::kRearrange);
  return Catalogue()[first + static_cast<size_t>(kind)];
}

const CatalogueRow& RowOf(ScanOp op) {
  static const size_t first = FirstRow(OperationKind::kScan);
  return Catalogue()[first + static_cast<size_t>(op)];
}

const CatalogueRow& RowOf(const TakeAttributes& attributes) {
  static const size_t first = FirstRow(OperationKind::kTake);
  return Catalogue()[first + (attributes.along ? 1 : 0)];
}

const CatalogueRow& RowOf(CreationKind kind) {
  static const size_t first = FirstRow(OperationKind::kCreation);
  return Catalogue()[first + static_cast<size_t>(kind)];
}

const CatalogueRow& RowOf(ImageKind kind) {
  static const size_t first = FirstRow(OperationKind::kImage);
  return Catalogue()[std::min(first + static_cast<size_t>(kind), Catalogue().size() - 1)];
}

const CatalogueRow& RowOf(NetworkKind kind) {
  static const size_t first = FirstRow(OperationKind::kNetwork);
  return Catalogue()[first + static_cast<size_t>(kind)];
}

const CatalogueRow& RowOf(SignalKind kind) {
  static const size_t first = FirstRow(OperationKind::kSignal);
  return Catalogue()[first + static_cast<size_t>(kind)];
}

const CatalogueRow& RowOf(OperationKind kind) { return Catalogue()[FirstRow(kind)]; }

absl::Status CheckOffered(const CatalogueRow& row, DType dtype) {
  if (absl::c_linear_search(row.dtypes, dtype)) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      row.name, ": dtype ", DTypeName(dtype), " is not offered, dtypes are ", NamesOf(row.dtypes)));
}

absl::string_view FunctionName(ElementwiseOp op) { return ElementwiseRowOf(op).function; }

bool GivesElements(ReduceOp op) { return op >= ReduceOp::kSoftmax; }

absl::string_view FunctionName(ReduceOp op) {
  constexpr absl::string_view kNames[] = {
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) #Function,
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
  };
  return kNames[static_cast<size_t>(op)];
}

bool MayFault(ElementwiseOp op, DType computed_in) {
  return ElementwiseRowOf(op).rule == ElementwiseRule::kPower &&
         KindOf(computed_in) == DTypeKind::kSigned;
}

bool IsCondition(ElementwiseOp op, size_t index) {
  return ElementwiseRowOf(op).rule == ElementwiseRule::kSelect && index == 0;
}

absl::StatusOr<ElementwiseTypes> InferElementwise(ElementwiseOp op,
                                                  absl::Span<const DType> operands, DType cast_to) {
  const ElementwiseRow& row = ElementwiseRowOf(op);
  if (row.rule == ElementwiseRule::kCast) {
    if (cast_to != DType::kUnspecified) return ElementwiseTypes{cast_to, cast_to};
    return absl::InvalidArgumentError("cast: output_dtype is not set, any dtype is allowed");
  }
  if (row.rule == ElementwiseRule::kSelect) operands.remove_prefix(1);
  DType promoted = operands[0];
  for (DType dtype : operands.subspan(1)) promoted = Promote(promoted, dtype);
  const DType computed_in = ComputedIn(row, operands, promoted);
  if (computed_in == DType::kUnspecified) return Refusal(row, operands, promoted);
  switch (row.result) {
    case ElementwiseResult::kSame:
      break;
    case ElementwiseResult::kBool:
      return ElementwiseTypes{computed_in, DType::kBool};
    case ElementwiseResult::kReal:
      return ElementwiseTypes{computed_in, RealPartOf(computed_in)};
  }
  return ElementwiseTypes{computed_in, computed_in};
}

}  // namespace gpucall
