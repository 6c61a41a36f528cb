#include <algorithm>
#include <vector>

#include "kernels/cuda/sort.h"
#include "server/base/status_macros.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"
#include "server/device/numbers.h"

namespace gpucall {
namespace {

// Lines of many tensors are sorted together, but so many elements at a time that the memory to
// work in, six times theirs or less, stays within some GiB; longer lines have more.
constexpr int64_t kChunkElements = int64_t{1} << 28;

class SortRun : public StepRun {
 public:
  SortRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    const DType dtype = layout.groups()[0].plan->values[StepOf(0).x].dtype;
    kind_ = {.rule = KeyRuleOf(dtype, StepOf(0).descending),
             .bytes = static_cast<int>(ElementSize(dtype)),
             .gives_indices = StepOf(0).gives_indices};
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      for (size_t i = 0; i < layout.groups()[g].members.size(); ++i) AddRow(g, i);
    }
    if (!rows_.empty()) table_offset_ = layout.ReserveTable(TableBytes());
  }

  absl::Status ReserveScratch(BatchLayout& layout) {
    for (const cuda::SortChunk& chunk : chunks_) {
      long long bytes = 0;
      GPUCALL_RETURN_IF_CUDA_ERROR(cuda::SortScratchBytes(kind_, chunk, &bytes));
      scratch_bytes_ = std::max<int64_t>(scratch_bytes_, bytes);
    }
    layout.RequireScratch(scratch_bytes_);
    return absl::OkStatus();
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    if (rows_.empty()) return;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const auto [group, member] = members_[r];
      const auto address = [&, g = group, i = member](uint32_t value) {
        const BatchLayout::Slots slots = layout_.SlotsOf(value, g);
        return memory + slots.offset + static_cast<int64_t>(i) * slots.stride;
      };
      rows_[r].x = address(StepOf(group).x);
      rows_[r].out = address(StepOf(group).output);
    }
    table_ = reinterpret_cast<const cuda::SortRow*>(memory + table_offset_);
    scratch_ = memory + layout_.scratch_offset();
    upload.push_back({table_offset_, rows_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    for (const cuda::SortChunk& chunk : chunks_) {
      GPUCALL_RETURN_IF_CUDA_ERROR(cuda::LaunchSort(kind_, table_, static_cast<int>(rows_.size()),
                                                    chunk, scratch_, scratch_bytes_, stream));
    }
    return absl::OkStatus();
  }

 private:
  const SortStep& StepOf(size_t group) const {
    return std::get<SortStep>(layout_.groups()[group].plan->steps[step_]);
  }
  int64_t TableBytes() const { return static_cast<int64_t>(rows_.size() * sizeof(cuda::SortRow)); }

  void AddRow(size_t group, size_t member) {
    const AxisLines& lines = StepOf(group).lines;
    const int64_t line_count = lines.outer * lines.inner;
    if (line_count == 0 || StepOf(group).kept == 0) return;
    rows_.push_back({.x = nullptr,
                     .out = nullptr,
                     .first = element_count_,
                     .first_line = line_count_,
                     .lines = line_count,
                     .count = lines.count,
                     .inner = lines.inner,
                     .kept = StepOf(group).kept});
    members_.emplace_back(group, member);
    for (int64_t added = 0; added < line_count;) {
      const bool fits = !chunks_.empty() && chunks_.back().elements + lines.count <= kChunkElements;
      if (!fits) {
        chunks_.push_back({element_count_, line_count_, 0, 0});
      }
      cuda::SortChunk& chunk = chunks_.back();
      const int64_t room = (kChunkElements - chunk.elements) / lines.count;
      const int64_t more = std::clamp<int64_t>(room, 1, line_count - added);
      chunk.elements += more * lines.count;
      chunk.lines += more;
      element_count_ += more * lines.count;
      line_count_ += more;
      added += more;
    }
  }

  const size_t step_;
  const BatchLayout& layout_;
  cuda::SortKind kind_;
  std::vector<cuda::SortRow> rows_;                 // those that have results
  std::vector<std::pair<size_t, size_t>> members_;  // of rows: group, and member of it
  std::vector<cuda::SortChunk> chunks_;             // of all rows
  int64_t element_count_ = 0, line_count_ = 0;      // of all rows
  int64_t table_offset_ = 0, scratch_bytes_ = 0;
  const cuda::SortRow* table_ = nullptr;
  std::byte* scratch_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const SortStep&, size_t step, BatchLayout& layout, const StepTools&) {
  auto run = std::make_unique<SortRun>(step, layout);
  GPUCALL_RETURN_IF_ERROR(run->ReserveScratch(layout));
  return run;
}

}  // namespace gpucall
