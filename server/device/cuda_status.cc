#include "server/device/cuda_status.h"

#include "absl/strings/str_cat.h"

namespace gpucall {
namespace {

// "cudaMemcpyAsync(to, from, ...)": only the function is of use to a reader.
absl::string_view FunctionOf(absl::string_view call) { return call.substr(0, call.find('(')); }

absl::StatusCode CodeOf(bool out_of_memory) {
  return out_of_memory ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kInternal;
}

}  // namespace

absl::Status CudaStatus(cudaError_t error, absl::string_view what) {
  if (error == cudaSuccess) return absl::OkStatus();
  static_cast<void>(cudaGetLastError());
  return absl::Status(CodeOf(error == cudaErrorMemoryAllocation),
                      absl::StrCat("CUDA error ", cudaGetErrorName(error), " (",
                                   cudaGetErrorString(error), ") in ", FunctionOf(what)));
}

absl::Status CublasStatus(cublasStatus_t error, absl::string_view what) {
  if (error == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return absl::Status(
      CodeOf(error == CUBLAS_STATUS_ALLOC_FAILED),
      absl::StrCat("cuBLASLt error ", cublasLtGetStatusName(error), " in ", FunctionOf(what)));
}

}  // namespace gpucall
