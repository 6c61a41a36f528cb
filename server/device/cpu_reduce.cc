#include "server/device/cpu_reduce.h"

#include "kernels/cpu/reduce.h"

namespace gpucall {
namespace {

cpu::Dimensions DimensionsOf(const Walk& walk) { return {walk.sizes, walk.strides}; }

}  // namespace

void RunReduce(const ReduceStep& step, const CpuValues& values) {
  const cpu::LineShape lines = {DimensionsOf(step.lines.starts), DimensionsOf(step.lines.elements)};
  cpu::Reduce(static_cast<size_t>(step.op), step.parameter, values.data(step.x),
              ElementTypeOf(values.type(step.x).dtype), lines, values.target(step.output));
}

}  // namespace gpucall
