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

// What a lane has for its steps.
struct StepTools {
  KernelCache& kernels;
  cuda::MatMul& matmul;
};
using PreparedStep = absl::StatusOr<std::unique_ptr<StepRun>>;

// Prepare step number `step` of the layout's plans, one function for each kind, and reserve what it
// needs in `layout`, which must outlive the run. Elementwise and reduce may compile a kernel;
// filter refuses (UNIMPLEMENTED) images of over 2^31 - 1 channels.
PreparedStep Prepare(const ElementwiseStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const MatMulStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const FilterStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const LineFilterStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const WindowFilterStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const ReduceStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const RearrangeStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const SortStep& of, size_t step, BatchLayout& layout, const StepTools& tools);
PreparedStep Prepare(const ScanStep& of, size_t step, BatchLayout& layout, const StepTools& tools);
PreparedStep Prepare(const TakeStep& of, size_t step, BatchLayout& layout, const StepTools& tools);
PreparedStep Prepare(const CreationStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const ImageStep& of, size_t step, BatchLayout& layout, const StepTools& tools);
PreparedStep Prepare(const NetworkStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);
PreparedStep Prepare(const SignalStep& of, size_t step, BatchLayout& layout,
                     const StepTools& tools);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_STEP_H_
