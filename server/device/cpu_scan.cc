#include "kernels/cpu/scan.h"
#include "server/device/cpu_step.h"
#include "server/device/numbers.h"

namespace gpucall {

absl::Status RunOnCpu(const ScanStep& step, const CpuValues& values, CpuMemory&) {
  const DType dtype = values.type(step.x).dtype;
  const auto op = step.op == ScanOp::kCumSum ? cpu::ScanOp::kSum : cpu::ScanOp::kProd;
  cpu::Scan(op, values.data(step.x), NumbersOf(dtype), ElementSize(dtype),
            {step.lines.outer, step.lines.count, step.lines.inner}, values.target(step.output));
  return absl::OkStatus();
}

}  // namespace gpucall
