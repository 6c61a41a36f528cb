// How many elements a thread of a generated kernel computes.
#ifndef GPUCALL_KERNELS_CUDA_ELEMENTWISE_UNROLLING_H_
#define GPUCALL_KERNELS_CUDA_ELEMENTWISE_UNROLLING_H_

#include "kernels/cuda/elementwise_source.h"

namespace gpucall::cuda {

// A thread computes `vectors` groups of `width` neighbouring elements.
struct Unrolling {
  int width = 1;
  int vectors = 1;
};

// Enough for loads as wide as can be and many of them in flight, but so few that the code of
// costly instructions stays short.
Unrolling ChooseUnrolling(const ElementwiseKernel& kernel);

}  // namespace gpucall::cuda

#endif  // GPUCALL_KERNELS_CUDA_ELEMENTWISE_UNROLLING_H_
