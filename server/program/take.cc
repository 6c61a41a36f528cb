#include "server/program/take.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

// One take in the making.
class Lowering {
 public:
  Lowering(const TakeAttributes& attributes, const TensorType& x, const TensorType& indices)
      : name_(NameOf(attributes)), attributes_(attributes), x_(x.shape), indices_(indices.shape) {
    if (!attributes.axis.has_value()) x_ = {ElementCount(x.shape)};
    result_.output.dtype = x.dtype;
    result_.step.axis = attributes.axis;
    result_.step.along = attributes.along;
  }

  absl::StatusOr<TakeLowering> Lower() {
    GPUCALL_ASSIGN_OR_RETURN(const AxisLines lines, LinesAt(name_, x_, attributes_.axis));
    result_.step.size = lines.count;
    result_.step.stride = lines.inner;
    if (attributes_.along) {
      GPUCALL_RETURN_IF_ERROR(TakeAlong(lines));
    } else {
      TakeWhole(lines);
    }
    const TensorType& output = result_.output;
    GPUCALL_RETURN_IF_ERROR(CheckedSizeBytes(name_, output.dtype, output.shape).status());
    if (lines.count == 0 && output.count() > 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          name_, ": x of shape ", ShapeString(x_), " has no elements along the axis, indices of ",
          "shape ", ShapeString(indices_), " need at least one"));
    }
    return std::move(result_);
  }

 private:
  static absl::string_view NameOf(const TakeAttributes& attributes) {
    return attributes.along ? "take_along_axis" : "take";
  }

  // A further, inner dimension; merged with the one before where both strides pass through evenly.
  void Append(int64_t size, int64_t x_stride, int64_t index_stride) {
    TakeStep& step = result_.step;
    if (size == 1) return;
    if (!step.sizes.empty() && step.x_strides.back() == size * x_stride &&
        step.index_strides.back() == size * index_stride) {
      step.sizes.back() *= size;
      step.x_strides.back() = x_stride;
      step.index_strides.back() = index_stride;
      return;
    }
    step.sizes.push_back(size);
    step.x_strides.push_back(x_stride);
    step.index_strides.push_back(index_stride);
  }

  void TakeWhole(const AxisLines& lines) {
    Shape& shape = result_.output.shape;
    const auto axis = x_.begin() + static_cast<int64_t>(lines.dimension);
    shape.assign(x_.begin(), axis);
    shape.insert(shape.end(), indices_.begin(), indices_.end());
    shape.insert(shape.end(), axis + 1, x_.end());
    Append(lines.outer, lines.count * lines.inner, 0);
    Append(ElementCount(indices_), 0, 1);
    Append(lines.inner, 1, 0);
  }

  absl::Status TakeAlong(const AxisLines& lines) {
    bool fits = indices_.size() == x_.size();
    for (size_t d = 0; fits && d < x_.size(); ++d) {
      fits = d == lines.dimension || x_[d] == indices_[d] || x_[d] == 1 || indices_[d] == 1;
    }
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat(
          name_, ": indices of shape ", ShapeString(indices_), " do not match x of shape ",
          ShapeString(x_), " but for dimension ", lines.dimension));
    }
    int64_t x_stride = ElementCount(x_), index_stride = ElementCount(indices_);
    for (size_t d = 0; d < x_.size(); ++d) {
      x_stride = x_[d] == 0 ? 0 : x_stride / x_[d];
      index_stride = indices_[d] == 0 ? 0 : index_stride / indices_[d];
      const bool is_axis = d == lines.dimension;
      const int64_t size = is_axis || x_[d] == 1 ? indices_[d] : x_[d];
      result_.output.shape.push_back(size);
      Append(size, is_axis || x_[d] == 1 ? 0 : x_stride, indices_[d] == 1 ? 0 : index_stride);
    }
    return absl::OkStatus();
  }

  const absl::string_view name_;
  const TakeAttributes& attributes_;
  Shape x_;
  const Shape& indices_;
  TakeLowering result_;
};

}  // namespace

absl::StatusOr<TakeLowering> LowerTake(const TakeAttributes& attributes, const TensorType& x,
                                       const TensorType& indices) {
  if (indices.dtype != DType::kInt32 && indices.dtype != DType::kInt64) {
    return absl::UnimplementedError(absl::StrCat(RowOf(attributes).name, ": indices of dtype ",
                                                 DTypeName(indices.dtype),
                                                 " are not offered, dtypes are int32, int64"));
  }
  return Lowering(attributes, x, indices).Lower();
}

absl::Status IndexOutOfRange(const TakeStep& step, int64_t index) {
  return absl::InvalidArgumentError(absl::StrCat(step.along ? "take_along_axis" : "take",
                                                 ": indices have ", index, ", allowed are ",
                                                 -step.size, " to ", step.size - 1));
}

}  // namespace gpucall
