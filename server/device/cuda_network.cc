#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/network.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"

namespace gpucall {
namespace {

cuda::ImageType ImageTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return cuda::ImageType::kFloat16;
    case DType::kBfloat16:
      return cuda::ImageType::kBfloat16;
    case DType::kFloat64:
      return cuda::ImageType::kFloat64;
    default:
      return cuda::ImageType::kFloat32;
  }
}

cuda::WindowShape ShapeOf(const NetworkStep& step, DType dtype) {
  cuda::WindowShape shape = {};
  shape.type = ImageTypeOf(dtype);
  shape.images = step.images;
  shape.channels = step.channels;
  shape.rows = step.rows;
  shape.columns = step.columns;
  shape.out_channels = step.out_channels;
  shape.out_rows = step.out_rows;
  shape.out_columns = step.out_columns;
  for (size_t axis = 0; axis < 2; ++axis) {
    shape.size[axis] = step.size[axis];
    shape.stride[axis] = step.stride[axis];
    shape.dilation[axis] = step.dilation[axis];
    shape.before[axis] = step.before[axis];
    shape.after[axis] = step.after[axis];
  }
  shape.groups = step.groups;
  shape.channels_last = step.layout == ImageLayout::kNhwc;
  shape.count_padding = step.count_padding;
  return shape;
}

// A launch for each execution.
class NetworkRun : public StepRun {
 public:
  NetworkRun(size_t step, const BatchLayout& layout) : step_(step), layout_(layout) {}

  void FillTables(std::byte* memory, std::vector<Staging::Segment>&) override { memory_ = memory; }

  absl::Status Launch(cudaStream_t stream) override {
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      for (size_t i = 0; i < layout_.groups()[g].members.size(); ++i) {
        GPUCALL_RETURN_IF_ERROR(LaunchMember(g, i, stream));
      }
    }
    return absl::OkStatus();
  }

 private:
  std::byte* Address(uint32_t value, size_t group, size_t member) const {
    if (value == NetworkStep::kNone) return nullptr;
    const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
    return memory_ + slots.offset + static_cast<int64_t>(member) * slots.stride;
  }

  absl::Status LaunchMember(size_t group, size_t member, cudaStream_t stream) const {
    const Plan& plan = *layout_.groups()[group].plan;
    const auto& step = std::get<NetworkStep>(plan.steps[step_]);
    const cuda::WindowShape shape = ShapeOf(step, plan.values[step.x].dtype);
    const std::byte* const x = Address(step.x, group, member);
    std::byte* const out = Address(step.output, group, member);
    if (step.kind == NetworkKind::kConv2d) {
      return CudaStatus(cuda::LaunchConvolution(shape, x, Address(step.weights, group, member),
                                                Address(step.bias, group, member), out, stream),
                        "LaunchConvolution");
    }
    const auto kind =
        step.kind == NetworkKind::kMaxPool2d ? cuda::PoolKind::kMax : cuda::PoolKind::kMean;
    return CudaStatus(cuda::LaunchPool(kind, shape, x, out, stream), "LaunchPool");
  }

  const size_t step_;
  const BatchLayout& layout_;
  std::byte* memory_ = nullptr;
};

absl::Status CheckSizes(const NetworkStep& step) {
  std::vector<int64_t> sizes = {step.channels / step.groups * step.size[0] * step.size[1]};
  for (size_t axis = 0; axis < 2; ++axis) {
    sizes.push_back((axis == 0 ? step.rows : step.columns) + step.before[axis] + step.after[axis]);
    sizes.push_back(step.size[axis] * step.dilation[axis]);
  }
  const int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  if (largest <= cuda::kMaxConvolved) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("conv2d: ", largest,
                                               " padded rows, columns or terms of a sum, on a GPU "
                                               "allowed are ",
                                               cuda::kMaxConvolved));
}

}  // namespace

PreparedStep Prepare(const NetworkStep&, size_t step, BatchLayout& layout, const StepTools&) {
  for (const BatchLayout::Group& group : layout.groups()) {
    const auto& of = std::get<NetworkStep>(group.plan->steps[step]);
    if (of.kind == NetworkKind::kConv2d) GPUCALL_RETURN_IF_ERROR(CheckSizes(of));
  }
  return std::make_unique<NetworkRun>(step, layout);
}

}  // namespace gpucall
