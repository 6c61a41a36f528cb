#include "server/program/sort.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

constexpr int64_t kMaxCount = std::numeric_limits<int32_t>::max();

}  // namespace

absl::StatusOr<SortLowering> LowerSort(const SortAttributes& attributes, const TensorType& x) {
  const CatalogueRow& row = RowOf(OperationKind::kSort);
  GPUCALL_RETURN_IF_ERROR(CheckOffered(row, x.dtype));
  SortLowering result;
  SortStep& step = result.step;
  GPUCALL_ASSIGN_OR_RETURN(step.lines, LinesAt(row.name, x.shape, attributes.axis));
  const int64_t count = step.lines.count;
  if (count > kMaxCount) {
    return absl::UnimplementedError(
        absl::StrCat(row.name, ": x of shape ", ShapeString(x.shape), " has ", count,
                     " elements along the axis, allowed are ", kMaxCount));
  }
  step.kept = attributes.count.value_or(count);
  if (step.kept < 0 || step.kept > count) {
    return absl::InvalidArgumentError(absl::StrCat(row.name, ": count is ", step.kept,
                                                   ", for x of shape ", ShapeString(x.shape),
                                                   " allowed are 0 to ", count));
  }
  step.descending = attributes.descending;
  step.gives_indices = attributes.indices;
  const auto text = [](const std::optional<int64_t>& number) {
    return number.has_value() ? absl::StrCat(*number) : "";
  };
  step.attributes = absl::StrCat(text(attributes.axis), ";", text(attributes.count));
  result.output.dtype = attributes.indices ? DType::kInt64 : x.dtype;
  result.output.shape = attributes.axis.has_value() ? x.shape : Shape{count};
  result.output.shape[step.lines.dimension] = step.kept;
  return result;
}

}  // namespace gpucall
