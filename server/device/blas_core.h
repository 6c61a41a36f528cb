// The matrix products' library must know the processor.
#ifndef GPUCALL_SERVER_DEVICE_BLAS_CORE_H_
#define GPUCALL_SERVER_DEVICE_BLAS_CORE_H_

namespace gpucall {

// Where OpenBLAS took the processor for an old one (cpu::BlasCoreToAskFor), starts this program
// again with `argv` and OPENBLAS_CORETYPE set, under the same process id, and does not return.
// Returns where that is not needed or not possible, and where the variable is set already. Call
// first in main.
void RestartWithBlasCore(char** argv);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_BLAS_CORE_H_
