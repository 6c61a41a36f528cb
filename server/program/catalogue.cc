#include "server/program/catalogue.h"

#include <array>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gpucall {
namespace {

enum class TypeRule { kSame, kReal, kDivide, kSelect, kPower };
enum class BoolRule { kTake, kRefuse, kPromote };

struct ElementwiseRow {
  absl::string_view function;
  absl::string_view name;
  int arity;
  TypeRule types;
  BoolRule bools;
  absl::string_view description;
};
constexpr ElementwiseRow kElementwise[] = {
#define GPUCALL_ELEMENTWISE(Function, name, arity, types, bools, description) \
  {#Function, #name, arity, TypeRule::types, BoolRule::bools, description},
#include "kernels/elementwise_ops.def"
#undef GPUCALL_ELEMENTWISE
};

constexpr DType kAll[] = {DType::kBool, DType::kUint8, DType::kInt32, DType::kFloat32,
                          DType::kFloat64};
constexpr absl::Span<const DType> kNumbers = absl::MakeConstSpan(kAll).subspan(1);
constexpr absl::Span<const DType> kReals = absl::MakeConstSpan(kAll).subspan(2);
constexpr absl::Span<const DType> kFloats = absl::MakeConstSpan(kAll).subspan(3);
constexpr DType kEvery[] = {DType::kBool,    DType::kUint8,     DType::kUint16,    DType::kUint32,
                            DType::kUint64,  DType::kInt8,      DType::kInt16,     DType::kInt32,
                            DType::kInt64,   DType::kFloat16,   DType::kBfloat16,  DType::kFloat32,
                            DType::kFloat64, DType::kComplex64, DType::kComplex128};
constexpr DType kImages[] = {DType::kUint8, DType::kFloat32};

absl::Span<const DType> AcceptedDTypes(const ElementwiseRow& row) {
  if (row.types == TypeRule::kReal) return kReals;
  return row.bools == BoolRule::kTake ? absl::MakeConstSpan(kAll) : kNumbers;
}

std::vector<CatalogueRow> MakeRows() {
  std::vector<CatalogueRow> rows;
  for (const ElementwiseRow& row : kElementwise) {
    rows.push_back(
        {row.name, OperationKind::kElementwise, row.arity, AcceptedDTypes(row), row.description});
  }
  rows.push_back({"matmul", OperationKind::kMatMul, 2, kFloats,
                  "matrix product, batched over leading dimensions"});
  const auto filter = [&](absl::string_view name, int inputs, absl::string_view description) {
    rows.push_back({name, OperationKind::kFilter, inputs, kImages, description});
  };
  // In the order of FilterKind.
  filter("gaussian", 1, "Gaussian smoothing");
  filter("box", 1, "mean over a window");
  filter("sobel", 1, "first derivative along an axis");
  filter("laplacian", 1, "second derivative, 4-neighbour form");
  filter("median", 1, "median over a window");
  filter("correlate", 2, "correlation with a 2-D kernel");
  filter("convolve", 2, "convolution with a 2-D kernel");
  filter("minimum_filter", 1, "smallest element of a window");
  filter("maximum_filter", 1, "largest element of a window");
  filter("rank_filter", 1, "element of a given rank of a window");
  filter("percentile_filter", 1, "percentile of a window");
  filter("grey_erosion", 1, "smallest element of a window");
  filter("grey_dilation", 1, "largest element of the mirrored window");
  filter("prewitt", 1, "first derivative along an axis, [1 1 1] along the other");
  filter("scharr", 1, "first derivative along an axis, [3 10 3] along the other");
  filter("grey_opening", 1, "erosion, then dilation");
  filter("grey_closing", 1, "dilation, then erosion");
  filter("morphological_gradient", 1, "dilation minus erosion");
  filter("white_tophat", 1, "image minus its opening");
  filter("black_tophat", 1, "closing of an image minus the image");
  filter("gaussian_laplace", 1, "sum of second derivatives of a Gaussian");
  filter("gaussian_gradient_magnitude", 1, "root of the squared first derivatives of a Gaussian");
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) \
  rows.push_back({#name, OperationKind::kReduce, 1, kAll, description});
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
  const auto rearrange = [&](absl::string_view name, absl::string_view description) {
    rows.push_back({name, OperationKind::kRearrange, 1, kEvery, description});
  };
  // In the order of RearrangeKind.
  rearrange("reshape", "the same elements in another shape");
  rearrange("transpose", "dimensions in another order");
  rearrange("concatenate", "arrays joined along an axis");
  rearrange("stack", "arrays joined along a new axis");
  rearrange("slice", "every step-th element of a range of each dimension");
  rearrange("pad", "surrounded by a value");
  rearrange("flip", "elements in reverse order along axes");
  rearrange("tile", "repeated along each dimension");
  rearrange("broadcast_to", "broadcast to a shape");
  rearrange("roll", "elements moved on along axes, in again at the start");
  return rows;
}

std::string NamesOf(absl::Span<const DType> dtypes) {
  return absl::StrJoin(
      dtypes, ", ", [](std::string* out, DType dtype) { absl::StrAppend(out, DTypeName(dtype)); });
}

absl::Status NotOffered(const ElementwiseRow& row, DType dtype) {
  return absl::UnimplementedError(absl::StrCat(row.name, ": dtype ", DTypeName(dtype),
                                               " is not offered, dtypes are ",
                                               NamesOf(AcceptedDTypes(row))));
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
  return ElementwiseRowOf(op).types == TypeRule::kPower && computed_in == DType::kInt32;
}

absl::StatusOr<DType> ComputeDType(ElementwiseOp op, absl::Span<const DType> operands) {
  const ElementwiseRow& row = ElementwiseRowOf(op);
  for (DType dtype : operands) {
    if (!IsOffered(dtype)) return NotOffered(row, dtype);
  }
  if (row.types == TypeRule::kSelect) operands.remove_prefix(1);
  DType promoted = operands[0];
  for (DType dtype : operands.subspan(1)) promoted = Promote(promoted, dtype);

  if (promoted == DType::kBool && row.bools == BoolRule::kRefuse) {
    return absl::InvalidArgumentError(absl::StrCat(
        row.name, ": dtype bool has no such operation, dtypes are ", NamesOf(AcceptedDTypes(row))));
  }
  if (promoted == DType::kBool && row.bools == BoolRule::kPromote) return NotOffered(row, promoted);
  switch (row.types) {
    case TypeRule::kReal:
      if (promoted == DType::kUint8) return NotOffered(row, promoted);  // NumPy: float16
      [[fallthrough]];
    case TypeRule::kDivide:
      return IsFloating(promoted) ? promoted : DType::kFloat64;
    default:
      return promoted;
  }
}

}  // namespace gpucall
