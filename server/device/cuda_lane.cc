#include "server/device/cuda_lane.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/take.h"
#include "server/device/cuda_layout.h"
#include "server/device/cuda_mapped_batch.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_targets.h"
#include "server/program/take.h"

namespace gpucall {
namespace {

// Of the execution number `member`, whose plan it is.
absl::Status FaultOf(const BatchLayout& layout, const Plan& plan, uint32_t member,
                     const Downloaded& downloaded) {
  if (layout.fault_bytes() == 0) return absl::OkStatus();
  if (layout.has_index_faults()) {
    cuda::IndexFault fault = {};
    const int64_t first = layout.index_faults_offset() - layout.download_offset();
    downloaded.Range(first + int64_t{member} * int64_t{sizeof(fault)}, sizeof(fault))
        .CopyTo(reinterpret_cast<std::byte*>(&fault));
    if (fault.step != 0) {
      return IndexOutOfRange(std::get<TakeStep>(plan.steps[fault.step - 1]), fault.index);
    }
  }
  int32_t exponent = 0;
  const int64_t first = layout.faults_offset() - layout.download_offset();
  downloaded.Range(first + int64_t{member} * int64_t{sizeof(exponent)}, sizeof(exponent))
      .CopyTo(reinterpret_cast<std::byte*>(&exponent));
  if (exponent == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("power: integer exponents must not be negative, got ", exponent));
}

// The bytes in their target, where there is one.
HostBytes AtTarget(HostBytes bytes, const HostTarget* target) {
  if (target == nullptr || bytes.size_bytes() == 0) return bytes;
  if (bytes.is_contiguous()) {  // an input that is an output may overlap its target
    std::memmove(target->data, bytes.data(), static_cast<size_t>(bytes.size_bytes()));
  } else {
    bytes.CopyTo(target->data);
  }
  return HostBytes(target->data, bytes.size_bytes(), target->owner);
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
  GPUCALL_ASSIGN_OR_RETURN(Staging staging, Staging::Make(device.blocks, device.copy_threads));
  auto lane = std::unique_ptr<CudaLane>(new CudaLane(device, std::move(staging)));
  void* workspace = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaMalloc(&workspace, cuda::MatMul::kWorkspaceBytes));
  lane->workspace_.reset(workspace);
  cublasLtHandle_t cublas = nullptr;
  GPUCALL_RETURN_IF_ERROR(CublasStatus(cublasLtCreate(&cublas), "cublasLtCreate"));
  lane->cublas_.reset(cublas);
  lane->algorithms_.emplace(KernelDiskCache::FromEnvironment(), device.info.name);
  lane->matmul_.emplace(cublas, workspace, &*lane->algorithms_);
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
  for (Execution& execution : batch) GPUCALL_RETURN_IF_ERROR(MakeBuffers(execution));
  MappedBatch mapped(batch);
  GPUCALL_RETURN_IF_ERROR(RunMapped(mapped.executions(), timing));
  mapped.Deliver();
  return absl::OkStatus();
}

absl::Status CudaLane::RunMapped(absl::Span<Execution> batch, BatchTiming& timing) {
  BatchLayout layout(batch);
  GPUCALL_ASSIGN_OR_RETURN(const auto steps, PrepareSteps(layout));
  const bool in_place = FitsInPlace(layout);
  GPUCALL_ASSIGN_OR_RETURN(const Downloaded downloaded, in_place ? RunInPlace(batch, layout, steps)
                                                                 : RunCopied(batch, layout, steps));
  GPUCALL_RETURN_IF_ERROR(Deliver(batch, layout, downloaded));
  return ReadTiming(in_place, timing);
}

absl::StatusOr<Downloaded> CudaLane::RunCopied(absl::Span<Execution> batch, BatchLayout& layout,
                                               StepRuns steps) {
  GPUCALL_RETURN_IF_ERROR(Record(kStart));
  GPUCALL_ASSIGN_OR_RETURN(
      const DeviceMemory memory,
      device_.pool.Allocate(std::max<int64_t>(layout.total_bytes(), 1), stream_.get()));
  layout.SetMemory(memory.data());
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
                                                 layout.download_bytes(),
                                                 DirectTargets(batch, layout), stream_.get()));
  GPUCALL_RETURN_IF_ERROR(Record(kCopiedOut));
  return staging_.FinishDownload(marks_[kCopiedOut].get());
}

absl::StatusOr<Downloaded> CudaLane::RunInPlace(absl::Span<Execution> batch, BatchLayout& layout,
                                                StepRuns steps) {
  std::byte* const memory = staging_.arena();
  layout.SetMemory(memory);
  staging_.Pack(Segments(batch, layout, steps, memory));
  std::fill_n(memory + layout.faults_offset(), layout.fault_bytes(), std::byte{0});
  GPUCALL_RETURN_IF_ERROR(Record(kCopiedIn));
  for (const auto& step : steps) GPUCALL_RETURN_IF_ERROR(step->Launch(stream_.get()));
  GPUCALL_RETURN_IF_ERROR(Record(kComputed));
  GPUCALL_RETURN_IF_ERROR(WaitFor(marks_[kComputed].get()));
  return Downloaded(memory + layout.download_offset());
}

absl::StatusOr<std::vector<std::unique_ptr<StepRun>>> CudaLane::PrepareSteps(BatchLayout& layout) {
  std::vector<std::unique_ptr<StepRun>> runs;
  const StepTools tools = {device_.kernels, *matmul_};
  const std::vector<Step>& steps = layout.groups()[0].plan->steps;
  for (size_t s = 0; s < steps.size(); ++s) {
    GPUCALL_ASSIGN_OR_RETURN(
        auto run,
        std::visit([&](const auto& of) { return Prepare(of, s, layout, tools); }, steps[s]));
    runs.push_back(std::move(run));
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
      if (layout.BufferOf(value, g) != nullptr) continue;
      const BatchLayout::Slots slots = layout.SlotsOf(value, g);
      for (size_t i = 0; i < layout.groups()[g].members.size(); ++i) {
        int64_t offset = slots.offset + static_cast<int64_t>(i) * slots.stride;
        const Execution& execution = batch[layout.groups()[g].members[i]];
        for (const HostBytes::Piece& piece : execution.inputs[value].host.pieces()) {
          segments.push_back({offset, piece.data, piece.size_bytes, piece.is_pinned});
          offset += piece.size_bytes;
        }
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

absl::Status CudaLane::MakeBuffers(Execution& execution) {
  execution.outputs.clear();
  std::vector<uint32_t> values;
  for (uint32_t value : execution.plan->outputs) values.push_back(execution.plan->roots[value]);
  execution.outputs.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!execution.keeps(i)) continue;
    for (size_t j = 0; j < i; ++j) {
      const bool is_kept = execution.outputs[j].resident != nullptr;
      if (is_kept && values[j] == values[i]) execution.outputs[i] = execution.outputs[j];
    }
    if (execution.outputs[i].resident != nullptr) continue;
    GPUCALL_ASSIGN_OR_RETURN(execution.outputs[i].resident, MakeBuffer(execution, values[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<BufferPointer> CudaLane::MakeBuffer(const Execution& execution, uint32_t value) {
  const Plan& plan = *execution.plan;
  if (value >= plan.input_count) {
    return device_.pool.AllocateBuffer(plan.values[value].size_bytes());
  }
  const Storage& input = execution.inputs[value];
  if (input.resident != nullptr) return input.resident;
  GPUCALL_ASSIGN_OR_RETURN(BufferPointer buffer,
                           device_.pool.AllocateBuffer(input.host.size_bytes()));
  std::byte* to = buffer->data();
  for (const HostBytes::Piece& piece : input.host.pieces()) {
    if (piece.size_bytes == 0) continue;
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(to, piece.data,
                                                 static_cast<size_t>(piece.size_bytes),
                                                 cudaMemcpyHostToDevice, stream_.get()));
    to += piece.size_bytes;
  }
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_.get()));
  return buffer;
}

absl::Status CudaLane::Deliver(absl::Span<Execution> batch, const BatchLayout& layout,
                               const Downloaded& downloaded) {
  for (size_t g = 0; g < layout.groups().size(); ++g) {
    const BatchLayout::Group& group = layout.groups()[g];
    for (size_t i = 0; i < group.members.size(); ++i) {
      Execution& execution = batch[group.members[i]];
      execution.status = FaultOf(layout, *group.plan, group.members[i], downloaded);
      if (!execution.status.ok()) {
        execution.outputs.clear();
        continue;
      }
      for (size_t o = 0; o < group.plan->outputs.size(); ++o) {
        if (execution.keeps(o)) continue;
        const HostTarget* const target = execution.target(o);
        HostBytes& bytes = execution.outputs[o].host;
        if (IsDirect(execution, o, g, layout)) {
          bytes = HostBytes(target->data, OutputBytes(execution, o), target->owner);
          continue;
        }
        GPUCALL_ASSIGN_OR_RETURN(
            HostBytes output,
            Output(execution, group.plan->roots[group.plan->outputs[o]], g, i, layout, downloaded));
        bytes = AtTarget(std::move(output), target);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<HostBytes> CudaLane::Output(const Execution& execution, uint32_t value, size_t group,
                                           size_t member, const BatchLayout& layout,
                                           const Downloaded& downloaded) {
  const int64_t size_bytes = execution.plan->values[value].size_bytes();
  const bool is_input = value < execution.plan->input_count;
  if (is_input && !execution.inputs[value].host.pieces().empty()) {
    return execution.inputs[value].host;
  }
  if (const DeviceBuffer* buffer = layout.BufferOf(value, group)) {
    GPUCALL_ASSIGN_OR_RETURN(const Downloaded copy,
                             staging_.DownloadToBlocks(buffer->data(), size_bytes, stream_.get()));
    return copy.Range(0, size_bytes);
  }
  if (is_input) return HostBytes();
  const BatchLayout::Slots slots = layout.SlotsOf(value, group);
  const int64_t offset = slots.offset + static_cast<int64_t>(member) * slots.stride;
  return downloaded.Range(offset - layout.download_offset(), size_bytes);
}

}  // namespace gpucall
