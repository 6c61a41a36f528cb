// The one place where results of CUDA's libraries become absl::Status.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_STATUS_H_
#define GPUCALL_SERVER_DEVICE_CUDA_STATUS_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/status_macros.h"

namespace gpucall {

// OK for success. RESOURCE_EXHAUSTED for lack of memory, INTERNAL for every other error; the
// message names `what` was done and CUDA's error. An error that is not sticky is cleared.
absl::Status CudaStatus(cudaError_t error, absl::string_view what);
absl::Status CublasStatus(cublasStatus_t error, absl::string_view what);

}  // namespace gpucall

// Early return on a failed call of the CUDA runtime.
#define GPUCALL_RETURN_IF_CUDA_ERROR(call) \
  GPUCALL_RETURN_IF_ERROR(::gpucall::CudaStatus((call), #call))

#endif  // GPUCALL_SERVER_DEVICE_CUDA_STATUS_H_
