// Steps of a batch on a CUDA lane: each is a few launches for all executions.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_STEP_H_
#define GPUCALL_SERVER_DEVICE_CUDA_STEP_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/cuda/matmul.h"
#include "server/device/cuda_kernel_cache.h"
#include "server/device/cuda_layout.h"
#include "server/device/cuda_staging.h"

namespace gpucall {

// One step of one batch. Calls go in the order prepare, FillTables, Launch.
class StepRun {
 public:
  virtual ~StepRun() = default;

  // The batch's memory is at `memory`. Appends the step's tables, which it owns, to the upload.
  virtual void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) = 0;
  virtual absl::Status Launch(cudaStream_t stream) = 0;
};

// The generators' name for a dtype. REQUIRES: not kUnspecified.
cuda::ElementType ElementTypeOf(DType dtype);

// Prepare step number `step` of the layout's plans, and reserve what it needs in `layout`, which
// must outlive the run. Elementwise and Reduce may compile a kernel; Filter refuses (UNIMPLEMENTED)
// images of over 2^31 - 1 channels.
absl::StatusOr<std::unique_ptr<StepRun>> PrepareElementwise(size_t step, BatchLayout& layout,
                                                            KernelCache& kernels);
std::unique_ptr<StepRun> PrepareMatMul(size_t step, BatchLayout& layout, cuda::MatMul& matmul);
absl::StatusOr<std::unique_ptr<StepRun>> PrepareReduce(size_t step, BatchLayout& layout,
                                                       KernelCache& kernels);
std::unique_ptr<StepRun> PrepareRearrange(size_t step, BatchLayout& layout);
std::unique_ptr<StepRun> PrepareNetwork(size_t step, BatchLayout& layout);
std::unique_ptr<StepRun> PrepareImage(size_t step, BatchLayout& layout);
std::unique_ptr<StepRun> PrepareTake(size_t step, BatchLayout& layout);
std::unique_ptr<StepRun> PrepareCreation(size_t step, BatchLayout& layout);
std::unique_ptr<StepRun> PrepareScan(size_t step, BatchLayout& layout);
std::unique_ptr<StepRun> PrepareLineFilter(size_t step, BatchLayout& layout);
std::unique_ptr<StepRun> PrepareWindowFilter(size_t step, BatchLayout& layout);
absl::StatusOr<std::unique_ptr<StepRun>> PrepareSort(size_t step, BatchLayout& layout);
absl::StatusOr<std::unique_ptr<StepRun>> PrepareFilter(size_t step, BatchLayout& layout);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_STEP_H_
