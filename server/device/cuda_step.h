// Steps of a batch on a CUDA lane: each is a few launches for all executions.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_STEP_H_
#define GPUCALL_SERVER_DEVICE_CUDA_STEP_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/cuda/matmul.h"
#include "server/device/cuda_kernel_cache.h"
#include "server/device/cuda_layout.h"
#include "server/device/cuda_staging.h"

namespace gpucall {

// One step of one batch. Calls go in the order prepare, FillTable, Launch.
class StepRun {
 public:
  virtual ~StepRun() = default;

  // The batch's memory is at `memory`. Returns the step's part of the upload, owned by the step; of
  // no bytes where it has none.
  virtual Staging::Segment FillTable(std::byte* memory) = 0;
  virtual absl::Status Launch(cudaStream_t stream) = 0;
};

// Prepare step number `step` of the layout's plans, and reserve what it needs in `layout`, which
// must outlive the run. The first may compile a kernel.
absl::StatusOr<std::unique_ptr<StepRun>> PrepareElementwise(size_t step, BatchLayout& layout,
                                                            KernelCache& kernels);
std::unique_ptr<StepRun> PrepareMatMul(size_t step, BatchLayout& layout, cuda::MatMul& matmul);
std::unique_ptr<StepRun> PrepareFilter(size_t step, BatchLayout& layout);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_STEP_H_
