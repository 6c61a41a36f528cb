#include "kernels/cpu/copy.h"
#include "server/device/cpu_step.h"

namespace gpucall {

absl::Status RunOnCpu(const RearrangeStep& step, const CpuValues& values, CpuMemory&) {
  const size_t element_bytes = ElementSize(values.type(step.output).dtype);
  const auto bytes = static_cast<int64_t>(element_bytes);
  for (const RearrangeStep::Part& part : step.parts) {
    const std::byte* const x =
        part.input == RearrangeStep::kFill ? step.fill.data() : values.data(part.input);
    cpu::CopyStrided(x + part.input_offset * bytes,
                     values.target(step.output) + part.output_offset * bytes, element_bytes,
                     part.sizes, part.input_strides, part.output_strides);
  }
  return absl::OkStatus();
}

}  // namespace gpucall
