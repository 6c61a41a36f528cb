#include "kernels/cpu/network.h"
#include "server/device/cpu_step.h"

namespace gpucall {

absl::Status RunOnCpu(const NetworkStep& step, const CpuValues& values, CpuMemory&) {
  const cpu::WindowShape shape = {.images = step.images,
                                  .channels = step.channels,
                                  .rows = step.rows,
                                  .columns = step.columns,
                                  .out_channels = step.out_channels,
                                  .out_rows = step.out_rows,
                                  .out_columns = step.out_columns,
                                  .size = step.size,
                                  .stride = step.stride,
                                  .dilation = step.dilation,
                                  .before = step.before,
                                  .after = step.after,
                                  .groups = step.groups,
                                  .channels_last = step.layout == ImageLayout::kNhwc};
  const cpu::ElementType type = ElementTypeOf(values.type(step.x).dtype);
  const std::byte* const x = values.data(step.x);
  std::byte* const out = values.target(step.output);
  switch (step.kind) {
    case NetworkKind::kConv2d: {
      const std::byte* const bias =
          step.bias == NetworkStep::kNone ? nullptr : values.data(step.bias);
      if (cpu::Convolve2d(shape, type, x, values.data(step.weights), bias, out)) break;
      return absl::InvalidArgumentError(
          "conv2d: the window's elements, or the channels of a group, are over 2147483647, the "
          "largest number allowed on this device");
    }
    case NetworkKind::kMaxPool2d:
      cpu::MaxPool2d(shape, type, x, out);
      break;
    case NetworkKind::kAvgPool2d:
      cpu::AvgPool2d(shape, type,
                     step.count_padding ? cpu::CountPadding::kYes : cpu::CountPadding::kNo, x, out);
      break;
  }
  return absl::OkStatus();
}

}  // namespace gpucall
