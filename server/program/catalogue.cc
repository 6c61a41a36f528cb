#include "server/program/catalogue.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/elementwise_rules.h"

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

constexpr DType kAllFloats[] = {DType::kFloat16, DType::kBfloat16, DType::kFloat32,
                                DType::kFloat64};
constexpr DType kImages[] = {DType::kUint8, DType::kFloat32};

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

std::vector<DType> EveryDType() {
  std::vector<DType> dtypes;
  for (int i = 1; i < kDTypeCount; ++i) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

// In the order of ImageKind.
void AddImageRows(std::vector<CatalogueRow>& rows) {
  static constexpr DType kColours[] = {DType::kUint8, DType::kUint16, DType::kFloat32};
  static constexpr DType kPixels[] = {DType::kUint8, DType::kUint16, DType::kInt16,
                                      DType::kFloat32};
  static constexpr DType kBytes[] = {DType::kUint8};
  static constexpr DType kSmoothed[] = {DType::kUint8, DType::kFloat32};
  const auto image = [&](absl::string_view name, absl::Span<const DType> dtypes,
                         absl::string_view description) {
    rows.push_back({name, OperationKind::kImage, 1, dtypes, description});
  };
  image("convert_colour", kColours, "rgb to gray, hsv or ycrcb, and back");
  image("threshold", kPixels, "elements above a threshold, or those below, as they are or white");
  image("adaptive_threshold", kBytes, "white where elements are above the mean around them");
  image("otsu", kBytes, "threshold that divides the values of an image best");
  image("histogram", kPixels, "how many elements are in each of several bins");
  image("equalise_histogram", kBytes, "gray values spread evenly");
  image("integral", kPixels, "sums of all elements above and to the left");
  image("resize", kPixels, "another size");
  image("warp_affine", kPixels, "turned, scaled, sheared and moved");
  image("normalise", kPixels, "minus a mean, over a deviation, of each channel");
  image("pyramid_down", kPixels, "smoothed, half the size");
  image("pyramid_up", kPixels, "twice the size, smoothed");
  image("bilateral", kSmoothed, "mean weighted by distance and by difference");
  image("unsharp_mask", kPixels, "sharpened by what smoothing takes away");
  image("canny", kBytes, "edges, one pixel wide");
}

std::vector<CatalogueRow> MakeRows() {
  std::vector<CatalogueRow> rows;
  for (const ElementwiseRow& row : kElementwise) {
    rows.push_back(
        {row.name, OperationKind::kElementwise, row.arity, AcceptedDTypes(row), row.description});
  }
  static const auto& every = *new std::vector<DType>(EveryDType());
  rows.push_back({"matmul", OperationKind::kMatMul, 2,
                  absl::MakeConstSpan(every).subspan(1),  // no bool, which is the first
                  "matrix product, batched over leading dimensions"});
  const absl::Span<const DType> ordered =  // no complex ones, which are the last
      absl::MakeConstSpan(every).first(static_cast<size_t>(DType::kFloat64));
  const auto filter = [&](absl::string_view name, int inputs, absl::string_view description) {
    const bool binary = absl::StartsWith(name, "binary_");
    rows.push_back({name, OperationKind::kFilter, inputs, binary ? ordered : ordered.subspan(1),
                    description});  // bool is the first
  };
  // In the order of FilterKind.
  filter("gaussian", 1, "Gaussian smoothing");
  filter("box", 1, "mean over a window");
  filter("sobel", 1, "first derivative along an axis");
  filter("laplacian", 1, "second derivative, 4-neighbour form");
  filter("median", 1, "median over a window");
  filter("correlate", 2, "correlation with a kernel");
  filter("convolve", 2, "convolution with a kernel");
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
  filter("correlate1d", 1, "correlation along an axis");
  filter("convolve1d", 1, "convolution along an axis");
  filter("binary_erosion", 1, "true where all of a window is");
  filter("binary_dilation", 1, "true where any of the mirrored window is");
  filter("binary_opening", 1, "erosions, then dilations");
  filter("binary_closing", 1, "dilations, then erosions");
#define GPUCALL_REDUCE(Function, name, result, size, empty, description) \
  rows.push_back({#name, OperationKind::kReduce, 1, ordered, description});
#include "kernels/reduce_ops.def"
#undef GPUCALL_REDUCE
  const auto rearrange = [&](absl::string_view name, absl::string_view description) {
    rows.push_back({name, OperationKind::kRearrange, 1, every, description});
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
  rows.push_back({"sort", OperationKind::kSort, 1, ordered,
                  "elements in order along an axis, or their indices"});
  // In the order of ScanOp.
  rows.push_back({"cumsum", OperationKind::kScan, 1, ordered, "sum of the elements so far"});
  rows.push_back({"cumprod", OperationKind::kScan, 1, ordered, "product of the elements so far"});
  rows.push_back({"take", OperationKind::kTake, 2, every, "elements by their indices in an axis"});
  rows.push_back({"take_along_axis", OperationKind::kTake, 2, every,
                  "elements by an index in an axis for each"});
  // In the order of NetworkKind.
  rows.push_back({"conv2d", OperationKind::kNetwork, 2, kAllFloats, "convolution of images"});
  rows.push_back({"max_pool2d", OperationKind::kNetwork, 1, kAllFloats, "largest of each window"});
  rows.push_back({"avg_pool2d", OperationKind::kNetwork, 1, kAllFloats, "mean of each window"});
  const auto creation = [&](absl::string_view name, absl::Span<const DType> dtypes,
                            absl::string_view description) {
    rows.push_back({name, OperationKind::kCreation, 0, dtypes, description});
  };
  // In the order of CreationKind.
  creation("full", every, "one value everywhere");
  creation("arange", ordered.subspan(1), "evenly spaced numbers");
  creation("random_uniform", kAllFloats, "random numbers, evenly distributed");
  creation("random_normal", kAllFloats, "random numbers, normally distributed");
  creation("random_integers", ordered.subspan(1, 8), "random integers, evenly distributed");
  AddImageRows(rows);
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

const CatalogueRow& RowOf(NetworkKind kind) {
  static const size_t first = FirstRow(OperationKind::kNetwork);
  return Catalogue()[first + static_cast<size_t>(kind)];
}

const CatalogueRow& RowOf(CreationKind kind) {
  static const size_t first = FirstRow(OperationKind::kCreation);
  return Catalogue()[first + static_cast<size_t>(kind)];
}

const CatalogueRow& RowOf(ImageKind kind) {
  static const size_t first = FirstRow(OperationKind::kImage);
  return Catalogue()[std::min(first + static_cast<size_t>(kind), Catalogue().size() - 1)];
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
