// Where the values of one task lie while its plan runs on the CPU.
#ifndef GPUCALL_SERVER_DEVICE_CPU_VALUES_H_
#define GPUCALL_SERVER_DEVICE_CPU_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/element_type.h"
#include "server/base/tensor_type.h"
#include "server/program/plan.h"

namespace gpucall {

// Views; owns no elements.
struct CpuValues {
  struct Place {
    const std::byte* data = nullptr;  // no alignment where it is a Program input
    std::byte* target = nullptr;      // the same, where a step writes it
  };
  const Plan* plan = nullptr;
  std::vector<Place> places;  // by value

  const TensorType& type(uint32_t value) const { return plan->values[value]; }
  const std::byte* data(uint32_t value) const { return places[plan->roots[value]].data; }
  std::byte* target(uint32_t value) const { return places[plan->roots[value]].target; }
};

// The kernels' name for a dtype. REQUIRES: not kUnspecified.
cpu::ElementType ElementTypeOf(DType dtype);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_VALUES_H_
