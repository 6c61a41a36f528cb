// Loops over dense elements: one for each row of kernels/elementwise_ops.def and type it computes
// in. All are pure functions. Pointers need no alignment; an output may be exactly one of the
// operands where element sizes are equal, else they must not overlap. The same element gives the
// same bits wherever it stands in the array and whatever instruction set the machine has.
#ifndef GPUCALL_KERNELS_CPU_ELEMENTWISE_H_
#define GPUCALL_KERNELS_CPU_ELEMENTWISE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/element_type.h"

namespace gpucall::cpu {

// out[i] = f(operands[0][i], operands[1][i], ...) for i < count.
using ElementwiseLoop = void (*)(const void* const* operands, void* out, size_t count);
// out[i] = in[i] as another type.
using CastLoop = void (*)(const void* in, void* out, size_t count);
using ConvertLoop = void (*)(const void* in, void* out, size_t count);
// Index of the first element that is no exponent of an integer power; count where all are.
using FaultScan = size_t (*)(const void* exponents, size_t count);

// The operation of row `row`, computed in `type`: its operands and result have that type, but for a
// condition, which is kBool. Null where the operation is not computed in `type`.
ElementwiseLoop FindElementwiseLoop(size_t row, ElementType type);

// Never null. NumPy's astype, defined for all numbers: kernels/elementwise_types.h.
CastLoop FindCastLoop(ElementType from, ElementType to);

// What images are rounded by; null but for kBool, kUint8, kInt32, kFloat32 and kFloat64. To kBool:
// not 0, so NaN is true. To an integer: nearest, halves to even, saturating, NaN gives 0. Else as
// C++: double to float overflows to infinity.
ConvertLoop FindConvertLoop(ElementType from, ElementType to);

// Null for types whose powers never fault.
FaultScan FindPowerFaultScan(ElementType type);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_ELEMENTWISE_H_
