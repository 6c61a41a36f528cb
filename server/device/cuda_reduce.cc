#include <vector>

#include "kernels/cuda/reduce_source.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

cuda::ReduceRow RowOf(const ReduceStep& step, cuda::ElementType type) {
  const Lines& lines = step.lines;
  return cuda::MakeReduceRow({.start_sizes = lines.starts.sizes,
                              .start_strides = lines.starts.strides,
                              .element_sizes = lines.elements.sizes,
                              .element_strides = lines.elements.strides},
                             type);
}

class ReduceRun : public StepRun {
 public:
  ReduceRun(size_t step, BatchLayout& layout)
      : step_(step), layout_(layout), parameter_(StepOf(0).parameter) {
    kernel_ = {.function = {FunctionName(StepOf(0).op).data(), FunctionName(StepOf(0).op).size()},
               .type = ElementTypeOf(layout.groups()[0].plan->values[StepOf(0).x].dtype)};
    int64_t partial_bytes = 0;
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      const cuda::ReduceRow row = RowOf(StepOf(g), kernel_.type);
      if (row.line_count == 0) continue;
      row_count_ += MemberCount(g);
      partial_bytes += static_cast<int64_t>(MemberCount(g)) * cuda::ReducePartialBytes(row);
    }
    layout.RequireScratch(partial_bytes);
    if (row_count_ > 1) table_offset_ = layout.ReserveTable(TableBytes());
  }

  absl::Status Load(KernelCache& kernels) {
    GPUCALL_ASSIGN_OR_RETURN(loaded_, kernels.Get(kernel_));
    return absl::OkStatus();
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    std::byte* partials = memory + layout_.scratch_offset();
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      const cuda::ReduceRow row = RowOf(StepOf(g), kernel_.type);
      for (size_t i = 0; i < MemberCount(g) && row.line_count > 0; ++i) {
        AddRow(row, g, i, memory, partials);
      }
    }
    if (row_count_ <= 1) return;
    table_ = memory + table_offset_;
    upload.push_back({table_offset_, rows_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    using Pass = cuda::ReducePass;
    GPUCALL_RETURN_IF_ERROR(LaunchPass(block_count_, Pass::kAccumulate, stream));
    if (merge_block_count_ == 0) return absl::OkStatus();
    GPUCALL_RETURN_IF_ERROR(LaunchPass(merge_block_count_, Pass::kMerge, stream));
    if (!GivesElements(StepOf(0).op)) return absl::OkStatus();
    return LaunchPass(block_count_, Pass::kApply, stream);
  }

 private:
  const ReduceStep& StepOf(size_t group) const {
    return std::get<ReduceStep>(layout_.groups()[group].plan->steps[step_]);
  }
  size_t MemberCount(size_t group) const { return layout_.groups()[group].members.size(); }
  int64_t TableBytes() const { return static_cast<int64_t>(row_count_ * sizeof(cuda::ReduceRow)); }

  void AddRow(cuda::ReduceRow row, size_t group, size_t member, std::byte* memory,
              std::byte*& partials) {
    const auto address = [&](uint32_t value) {
      const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
      return memory + slots.offset + static_cast<int64_t>(member) * slots.stride;
    };
    row.x = address(StepOf(group).x);
    row.out = address(StepOf(group).output);
    row.partials = partials;
    row.first_block = block_count_;
    row.first_merge_block = merge_block_count_;
    partials += cuda::ReducePartialBytes(row);
    block_count_ += cuda::ReduceBlockCount(row);
    merge_block_count_ += cuda::ReduceMergeBlockCount(row);
    rows_.push_back(row);
  }

  absl::Status LaunchPass(int64_t block_count, cuda::ReducePass pass, cudaStream_t stream) {
    if (block_count == 0) return absl::OkStatus();
    int row_count = static_cast<int>(row_count_);
    void* arguments[] = {&rows_[0], &table_, &row_count, &pass, &parameter_};
    return CudaStatus(cudaLaunchKernel(reinterpret_cast<const void*>(loaded_->kernel),
                                       dim3(static_cast<unsigned>(block_count)),
                                       dim3(cuda::kReduceThreads), arguments, 0, stream),
                      "cudaLaunchKernel");
  }

  const size_t step_;
  const BatchLayout& layout_;
  double parameter_;
  cuda::ReduceKernel kernel_;
  KernelPointer loaded_;
  std::vector<cuda::ReduceRow> rows_;  // those with lines
  size_t row_count_ = 0;
  int64_t block_count_ = 0, merge_block_count_ = 0, table_offset_ = 0;
  std::byte* table_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const ReduceStep&, size_t step, BatchLayout& layout, const StepTools& tools) {
  auto run = std::make_unique<ReduceRun>(step, layout);
  GPUCALL_RETURN_IF_ERROR(run->Load(tools.kernels));
  return run;
}

}  // namespace gpucall
