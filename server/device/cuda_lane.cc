#include "server/device/cuda_lane.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/device/cuda_layout.h"
#include "server/device/cuda_status.h"

namespace gpucall {
namespace {

absl::Status FaultOf(const BatchLayout& layout, uint32_t member, const std::byte* downloaded) {
  if (layout.fault_bytes() == 0) return absl::OkStatus();
  int32_t exponent = 0;
  std::memcpy(
      &exponent,
      downloaded + (layout.faults_offset() - layout.download_offset()) + member * sizeof(exponent),
      sizeof(exponent));
  if (exponent == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("power: integer exponents must not be negative, got ", exponent));
}

// Of outputs that are inputs.
int64_t UnchangedBytes(absl::Span<const Execution> batch) {
  int64_t size_bytes = 0;
  for (const Execution& execution : batch) {
    for (const uint32_t output : execution.plan->outputs) {
      const uint32_t value = execution.plan->roots[output];
      if (value < execution.plan->input_count) size_bytes += execution.inputs[value].size_bytes;
    }
  }
  return size_bytes;
}

// A GPU reads and writes page-locked memory itself: up to here that takes less time than a copy
// each way. Elementwise steps touch each byte once.
bool FitsInPlace(const BatchLayout& layout) {
  constexpr int64_t kMaxBytes = int64_t{64} << 10;
  const std::vector<Step>& steps = layout.groups()[0].plan->steps;
  return layout.total_bytes() <= kMaxBytes && std::ranges::all_of(steps, [](const Step& step) {
           return std::holds_alternative<ElementwiseStep>(step);
         });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Lane>> CudaLane::Make(CudaDeviceState& device) {
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(device.ordinal));
  GPUCALL_ASSIGN_OR_RETURN(Staging staging, Staging::Make());
  auto lane = std::unique_ptr<CudaLane>(new CudaLane(device, std::move(staging)));
  void* workspace = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaMalloc(&workspace, cuda::MatMul::kWorkspaceBytes));
  lane->workspace_.reset(workspace);
  cublasLtHandle_t cublas = nullptr;
  GPUCALL_RETURN_IF_ERROR(CublasStatus(cublasLtCreate(&cublas), "cublasLtCreate"));
  lane->cublas_.reset(cublas);
  lane->matmul_.emplace(cublas, workspace);
  for (CudaEvent& mark : lane->marks_) {
    cudaEvent_t event = nullptr;
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
    mark.reset(event);
  }
  cudaStream_t stream = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  lane->stream_.reset(stream);
  return lane;
}

absl::Status CudaLane::Execute(absl::Span<Execution> batch, BatchTiming& timing) {
  const absl::Status status = Run(batch, timing);
  if (!status.ok()) {
    // Copies that were started still use the pinned memory.
    static_cast<void>(cudaStreamSynchronize(stream_.get()));
    static_cast<void>(cudaGetLastError());
    for (Execution& execution : batch) execution.outputs.clear();
  }
  return status;
}

absl::Status CudaLane::Run(absl::Span<Execution> batch, BatchTiming& timing) {
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(device_.ordinal));
  BatchLayout layout(batch);
  GPUCALL_ASSIGN_OR_RETURN(const auto steps, PrepareSteps(layout));
  const bool in_place = FitsInPlace(layout);
  GPUCALL_ASSIGN_OR_RETURN(const std::byte* downloaded, in_place ? RunInPlace(batch, layout, steps)
                                                                 : RunCopied(batch, layout, steps));
  Deliver(batch, layout, downloaded);
  return ReadTiming(in_place, timing);
}

absl::StatusOr<const std::byte*> CudaLane::RunCopied(absl::Span<Execution> batch,
                                                     const BatchLayout& layout, StepRuns steps) {
  GPUCALL_RETURN_IF_ERROR(Record(kStart));
  GPUCALL_ASSIGN_OR_RETURN(const DeviceMemory memory,
                           device_.pool.Allocate(layout.total_bytes(), stream_.get()));
  const auto segments = Segments(batch, layout, steps, memory.data());
  GPUCALL_RETURN_IF_ERROR(
      staging_.Upload(segments, layout.upload_bytes(), memory.data(), stream_.get()));
  GPUCALL_RETURN_IF_ERROR(Record(kCopiedIn));
  if (layout.fault_bytes() > 0) {
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(memory.data() + layout.faults_offset(), 0,
                                                 static_cast<size_t>(layout.fault_bytes()),
                                                 stream_.get()));
  }
  for (const auto& step : steps) GPUCALL_RETURN_IF_ERROR(step->Launch(stream_.get()));
  GPUCALL_RETURN_IF_ERROR(Record(kComputed));
  GPUCALL_RETURN_IF_ERROR(staging_.StartDownload(memory.data() + layout.download_offset(),
                                                 layout.download_bytes(), stream_.get()));
  GPUCALL_RETURN_IF_ERROR(Record(kCopiedOut));
  return staging_.FinishDownload(marks_[kCopiedOut].get());
}

absl::StatusOr<const std::byte*> CudaLane::RunInPlace(absl::Span<Execution> batch,
                                                      const BatchLayout& layout, StepRuns steps) {
  std::byte* const memory = staging_.arena();
  staging_.Pack(Segments(batch, layout, steps, memory));
  std::fill_n(memory + layout.faults_offset(), layout.fault_bytes(), std::byte{0});
  GPUCALL_RETURN_IF_ERROR(Record(kCopiedIn));
  for (const auto& step : steps) GPUCALL_RETURN_IF_ERROR(step->Launch(stream_.get()));
  GPUCALL_RETURN_IF_ERROR(Record(kComputed));
  GPUCALL_RETURN_IF_ERROR(WaitFor(marks_[kComputed].get()));
  return memory + layout.download_offset();
}

absl::StatusOr<std::vector<std::unique_ptr<StepRun>>> CudaLane::PrepareSteps(BatchLayout& layout) {
  std::vector<std::unique_ptr<StepRun>> runs;
  const std::vector<Step>& steps = layout.groups()[0].plan->steps;
  for (size_t s = 0; s < steps.size(); ++s) {
    if (std::holds_alternative<ElementwiseStep>(steps[s])) {
      GPUCALL_ASSIGN_OR_RETURN(auto run, PrepareElementwise(s, layout, device_.kernels));
      runs.push_back(std::move(run));
    } else if (std::holds_alternative<MatMulStep>(steps[s])) {
      runs.push_back(PrepareMatMul(s, layout, *matmul_));
    } else if (std::holds_alternative<RearrangeStep>(steps[s])) {
      runs.push_back(PrepareRearrange(s, layout));
    } else if (std::holds_alternative<ReduceStep>(steps[s])) {
      GPUCALL_ASSIGN_OR_RETURN(auto run, PrepareReduce(s, layout, device_.kernels));
      runs.push_back(std::move(run));
    } else {
      GPUCALL_ASSIGN_OR_RETURN(auto run, PrepareFilter(s, layout));
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

std::vector<Staging::Segment> CudaLane::Segments(absl::Span<const Execution> batch,
                                                 const BatchLayout& layout, StepRuns steps,
                                                 std::byte* memory) {
  std::vector<Staging::Segment> segments;
  for (uint32_t value = 0; value < batch[0].plan->input_count; ++value) {
    if (!layout.IsOnDevice(value)) continue;
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      const BatchLayout::Slots slots = layout.SlotsOf(value, g);
      int64_t offset = slots.offset;
      for (const uint32_t member : layout.groups()[g].members) {
        const TensorView& input = batch[member].inputs[value];
        segments.push_back({offset, input.data, input.size_bytes});
        offset += slots.stride;
      }
    }
  }
  for (const auto& step : steps) step->FillTables(memory, segments);
  return segments;
}

absl::Status CudaLane::Record(Mark mark) {
  return CudaStatus(cudaEventRecord(marks_[mark].get(), stream_.get()), "cudaEventRecord");
}

absl::Status CudaLane::ReadTiming(bool in_place, BatchTiming& timing) const {
  absl::Duration* const stages[] = {&timing.copy_in, &timing.compute, &timing.copy_out};
  for (int stage = 0; stage < 3; ++stage) {
    if (in_place && stage != kCopiedIn) continue;
    float milliseconds = 0;
    GPUCALL_RETURN_IF_CUDA_ERROR(
        cudaEventElapsedTime(&milliseconds, marks_[stage].get(), marks_[stage + 1].get()));
    *stages[stage] = absl::Milliseconds(milliseconds);
  }
  return absl::OkStatus();
}

void CudaLane::Deliver(absl::Span<Execution> batch, const BatchLayout& layout,
                       const std::byte* downloaded) {
  unchanged_.resize(static_cast<size_t>(UnchangedBytes(batch)));
  std::byte* unchanged = unchanged_.data();
  for (size_t g = 0; g < layout.groups().size(); ++g) {
    const BatchLayout::Group& group = layout.groups()[g];
    for (size_t i = 0; i < group.members.size(); ++i) {
      Execution& execution = batch[group.members[i]];
      execution.outputs.clear();
      execution.status = FaultOf(layout, group.members[i], downloaded);
      if (!execution.status.ok()) continue;
      for (const uint32_t output : group.plan->outputs) {
        const uint32_t value = group.plan->roots[output];
        const int64_t size_bytes = group.plan->values[value].size_bytes();
        if (value < group.plan->input_count) {
          std::copy_n(static_cast<const std::byte*>(execution.inputs[value].data), size_bytes,
                      unchanged);
          execution.outputs.push_back({unchanged, size_bytes});
          unchanged += size_bytes;
          continue;
        }
        const BatchLayout::Slots slots = layout.SlotsOf(value, g);
        const int64_t offset = slots.offset + static_cast<int64_t>(i) * slots.stride;
        execution.outputs.push_back({downloaded + (offset - layout.download_offset()), size_bytes});
      }
    }
  }
}

}  // namespace gpucall
