// Products of integers.
#ifndef GPUCALL_KERNELS_CPU_MATMUL_INTEGER_H_
#define GPUCALL_KERNELS_CPU_MATMUL_INTEGER_H_

#include <span>

#include "kernels/cpu/matmul.h"

namespace gpucall::cpu {

// As Multiply. REQUIRES: types are integers. Nothing needs alignment.
void MultiplyIntegers(const Product& product, std::span<const ProductOperands> batch);

}  // namespace gpucall::cpu

#endif  // GPUCALL_KERNELS_CPU_MATMUL_INTEGER_H_
