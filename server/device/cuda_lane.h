// A lane of a GPU: one stream, its pinned memory and its cuBLASLt workspace.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_LANE_H_
#define GPUCALL_SERVER_DEVICE_CUDA_LANE_H_

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/cuda/matmul.h"
#include "server/device/cuda_algorithms.h"
#include "server/device/cuda_handles.h"
#include "server/device/cuda_kernel_cache.h"
#include "server/device/cuda_memory.h"
#include "server/device/cuda_staging.h"
#include "server/device/cuda_step.h"
#include "server/device/device.h"

namespace gpucall {

// What the lanes of a device share.
struct CudaDeviceState {
  DeviceInfo info;
  int ordinal;
  DeviceMemoryPool pool;
  std::shared_ptr<PinnedPool> blocks;
  CopyThreads copy_threads{3};
  KernelCache kernels;
};

// Runs a batch as: one copy up, the launches of each step, one copy down, all in the lane's stream.
// A small elementwise batch is run in place, in page-locked memory: one launch, no copy. So is one
// of any size whose inputs and targets are page-locked.
class CudaLane : public Lane {
 public:
  // `device` must outlive the lane. RESOURCE_EXHAUSTED: no memory for it.
  static absl::StatusOr<std::unique_ptr<Lane>> Make(CudaDeviceState& device);

  absl::Status Execute(absl::Span<Execution> batch, BatchTiming& timing) override;

 private:
  enum Mark { kStart, kCopiedIn, kComputed, kCopiedOut, kMarkCount };

  explicit CudaLane(CudaDeviceState& device, Staging staging)
      : device_(device), staging_(std::move(staging)) {}

  using StepRuns = absl::Span<const std::unique_ptr<StepRun>>;

  absl::Status Run(absl::Span<Execution> batch, BatchTiming& timing);
  absl::Status RunMapped(absl::Span<Execution> batch, BatchTiming& timing);
  // Return the layout's download region, in host memory.
  absl::StatusOr<Downloaded> RunCopied(absl::Span<Execution> batch, BatchLayout& layout,
                                       StepRuns steps);
  absl::StatusOr<Downloaded> RunInPlace(absl::Span<Execution> batch, BatchLayout& layout,
                                        StepRuns steps);
  absl::StatusOr<std::vector<std::unique_ptr<StepRun>>> PrepareSteps(BatchLayout& layout);
  // What the upload region holds, once the layout's memory is at `memory`.
  static std::vector<Staging::Segment> Segments(absl::Span<const Execution> batch,
                                                const BatchLayout& layout, StepRuns steps,
                                                std::byte* memory);
  absl::Status Record(Mark mark);
  absl::Status ReadTiming(bool in_place, BatchTiming& timing) const;
  // Makes the buffers of an execution's outputs that are to be kept.
  absl::Status MakeBuffers(Execution& execution);
  absl::StatusOr<BufferPointer> MakeBuffer(const Execution& execution, uint32_t value);
  // Sets outputs and statuses; `downloaded` is the layout's download region.
  absl::Status Deliver(absl::Span<Execution> batch, const BatchLayout& layout,
                       const Downloaded& downloaded);
  // Of a value that is not kept, of the member number `member` of `group`.
  absl::StatusOr<HostBytes> Output(const Execution& execution, uint32_t value, size_t group,
                                   size_t member, const BatchLayout& layout,
                                   const Downloaded& downloaded);

  CudaDeviceState& device_;
  Staging staging_;
  CudaGlobalMemory workspace_;
  CublasLt cublas_;
  std::optional<DiskAlgorithms> algorithms_;
  std::optional<cuda::MatMul> matmul_;
  std::array<CudaEvent, kMarkCount> marks_;
  CudaStream stream_;  // last: its work uses all of the above
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_LANE_H_
