// Owners of CUDA's handles: move-only, of a handle's size, freed without throwing. A default-made
// owner holds nothing.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_HANDLES_H_
#define GPUCALL_SERVER_DEVICE_CUDA_HANDLES_H_

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <memory>

namespace gpucall {

template <typename HandleT, auto Destroy>
struct CudaDeleter {
  using pointer = HandleT;
  void operator()(HandleT handle) const noexcept { static_cast<void>(Destroy(handle)); }
};

template <typename HandleT, auto Destroy>
using CudaOwner = std::unique_ptr<HandleT, CudaDeleter<HandleT, Destroy>>;

using CudaStream = CudaOwner<cudaStream_t, cudaStreamDestroy>;
using CudaEvent = CudaOwner<cudaEvent_t, cudaEventDestroy>;
using CudaMemPool = CudaOwner<cudaMemPool_t, cudaMemPoolDestroy>;
using CudaLibrary = CudaOwner<cudaLibrary_t, cudaLibraryUnload>;
using CudaPinnedMemory = CudaOwner<void*, cudaFreeHost>;
using CudaGlobalMemory = CudaOwner<void*, cudaFree>;
using CublasLt = CudaOwner<cublasLtHandle_t, cublasLtDestroy>;

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_HANDLES_H_
