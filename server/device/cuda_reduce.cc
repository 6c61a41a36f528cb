#include <utility>
#include <vector>

#include "kernels/cuda/reduce_cut.h"
#include "kernels/cuda/reduce_source.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

cuda::ReduceRow RowOf(const ReduceStep& step, cuda::ElementType type) {
  const Lines& lines = step.lines;
  return cuda::MakeReduceRow(
      {.start_sizes = lines.starts.sizes,
       .start_strides = lines.starts.strides,
       .element_sizes = lines.elements.sizes,
       .element_strides = lines.elements.strides},
      type,
      GivesElements(step.op) ? cuda::ReduceResults::kOfElements : cuda::ReduceResults::kOfLines);
}

// The rows of one kernel.
struct Part {
  cuda::ReduceKernel kernel;
  KernelPointer loaded;
  size_t row_count = 0;
  std::vector<cuda::ReduceRow> rows;
  int64_t block_count = 0, merge_block_count = 0, table_offset = 0;
  std::byte* table = nullptr;

  bool HasTable() const { return row_count > 1; }
  int64_t TableBytes() const { return static_cast<int64_t>(row_count * sizeof(cuda::ReduceRow)); }
};

class ReduceRun : public StepRun {
 public:
  ReduceRun(size_t step, BatchLayout& layout)
      : step_(step),
        layout_(layout),
        parameter_(StepOf(0).parameter),
        type_(ElementTypeOf(layout.groups()[0].plan->values[StepOf(0).x].dtype)) {
    int64_t partial_bytes = 0;
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      const cuda::ReduceRow row = RowOf(StepOf(g), type_);
      if (row.line_count == 0) continue;
      PartOf(row).row_count += MemberCount(g);
      partial_bytes += static_cast<int64_t>(MemberCount(g)) * cuda::ReducePartialBytes(row);
    }
    layout.RequireScratch(partial_bytes);
    for (Part& part : parts_) {
      if (part.HasTable()) part.table_offset = layout.ReserveTable(part.TableBytes());
    }
  }

  absl::Status Load(KernelCache& kernels) {
    for (Part& part : parts_) {
      GPUCALL_ASSIGN_OR_RETURN(part.loaded, kernels.Get(part.kernel));
    }
    return absl::OkStatus();
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    std::byte* partials = memory + layout_.scratch_offset();
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      const cuda::ReduceRow row = RowOf(StepOf(g), type_);
      for (size_t i = 0; i < MemberCount(g) && row.line_count > 0; ++i) {
        AddRow(row, g, i, memory, partials);
      }
    }
    for (Part& part : parts_) {
      if (!part.HasTable()) continue;
      part.table = memory + part.table_offset;
      upload.push_back({part.table_offset, part.rows.data(), part.TableBytes()});
    }
  }

  absl::Status Launch(cudaStream_t stream) override {
    using Pass = cuda::ReducePass;
    for (Part& part : parts_) {
      GPUCALL_RETURN_IF_ERROR(LaunchPass(part, part.block_count, Pass::kAccumulate, stream));
      if (part.merge_block_count == 0) continue;
      GPUCALL_RETURN_IF_ERROR(LaunchPass(part, part.merge_block_count, Pass::kMerge, stream));
      if (!GivesElements(StepOf(0).op)) continue;
      GPUCALL_RETURN_IF_ERROR(LaunchPass(part, part.block_count, Pass::kApply, stream));
    }
    return absl::OkStatus();
  }

 private:
  const ReduceStep& StepOf(size_t group) const {
    return std::get<ReduceStep>(layout_.groups()[group].plan->steps[step_]);
  }
  size_t MemberCount(size_t group) const { return layout_.groups()[group].members.size(); }

  Part& PartOf(const cuda::ReduceRow& row) {
    for (Part& part : parts_) {
      if (part.kernel.form == row.form && part.kernel.width == row.width) return part;
    }
    const absl::string_view name = FunctionName(StepOf(0).op);
    Part part;
    part.kernel = {.function = {name.data(), name.size()},
                   .type = type_,
                   .form = row.form,
                   .width = row.width};
    parts_.push_back(std::move(part));
    return parts_.back();
  }

  void AddRow(cuda::ReduceRow row, size_t group, size_t member, std::byte* memory,
              std::byte*& partials) {
    const auto address = [&](uint32_t value) {
      const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
      return memory + slots.offset + static_cast<int64_t>(member) * slots.stride;
    };
    Part& part = PartOf(row);
    row.x = address(StepOf(group).x);
    row.out = address(StepOf(group).output);
    row.partials = partials;
    row.first_block = part.block_count;
    row.first_merge_block = part.merge_block_count;
    partials += cuda::ReducePartialBytes(row);
    part.block_count += cuda::ReduceBlockCount(row);
    part.merge_block_count += cuda::ReduceMergeBlockCount(row);
    part.rows.push_back(row);
  }

  absl::Status LaunchPass(Part& part, int64_t block_count, cuda::ReducePass pass,
                          cudaStream_t stream) {
    if (block_count == 0) return absl::OkStatus();
    int row_count = static_cast<int>(part.row_count);
    void* arguments[] = {&part.rows[0], &part.table, &row_count, &pass, &parameter_};
    return CudaStatus(cudaLaunchKernel(reinterpret_cast<const void*>(part.loaded->kernel),
                                       dim3(static_cast<unsigned>(block_count)),
                                       dim3(cuda::kReduceThreads), arguments, 0, stream),
                      "cudaLaunchKernel");
  }

  const size_t step_;
  const BatchLayout& layout_;
  double parameter_;
  const cuda::ElementType type_;
  std::vector<Part> parts_;
};

}  // namespace

PreparedStep Prepare(const ReduceStep&, size_t step, BatchLayout& layout, const StepTools& tools) {
  auto run = std::make_unique<ReduceRun>(step, layout);
  GPUCALL_RETURN_IF_ERROR(run->Load(tools.kernels));
  return run;
}

}  // namespace gpucall
