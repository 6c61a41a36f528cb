#include <vector>

#include "kernels/cuda/take.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"

namespace gpucall {
namespace {

class TakeRun : public StepRun {
 public:
  TakeRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      for (size_t i = 0; i < layout.groups()[g].members.size(); ++i) AddRow(g, i);
    }
    if (!rows_.empty()) table_offset_ = layout.ReserveTable(TableBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    if (rows_.empty()) return;
    auto* const faults =
        reinterpret_cast<cuda::IndexFault*>(memory + layout_.index_faults_offset());
    for (size_t r = 0; r < rows_.size(); ++r) {
      const auto [group, member] = members_[r];
      const auto address = [&, g = group, i = member](uint32_t value) {
        const BatchLayout::Slots slots = layout_.SlotsOf(value, g);
        return memory + slots.offset + static_cast<int64_t>(i) * slots.stride;
      };
      const TakeStep& step = StepOf(group);
      rows_[r].x = address(step.x);
      rows_[r].indices = address(step.indices);
      rows_[r].out = address(step.output);
      rows_[r].fault = faults + layout_.groups()[group].members[member];
    }
    table_ = reinterpret_cast<const cuda::TakeRow*>(memory + table_offset_);
    upload.push_back({table_offset_, rows_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    return CudaStatus(
        cuda::LaunchTake(table_, static_cast<int>(rows_.size()), block_count_, BytesOf(StepOf(0).x),
                         BytesOf(StepOf(0).indices), step_ + 1, stream),
        "LaunchTake");
  }

 private:
  const TakeStep& StepOf(size_t group) const {
    return std::get<TakeStep>(layout_.groups()[group].plan->steps[step_]);
  }
  int BytesOf(uint32_t value) const {
    return static_cast<int>(ElementSize(layout_.groups()[0].plan->values[value].dtype));
  }
  int64_t TableBytes() const { return static_cast<int64_t>(rows_.size() * sizeof(cuda::TakeRow)); }

  void AddRow(size_t group, size_t member) {
    const TakeStep& step = StepOf(group);
    cuda::TakeRow row = {};
    row.first_block = block_count_;
    row.count = row.sizes[0] = row.rank = 1;
    row.size = step.size;
    row.stride = step.stride;
    if (!step.sizes.empty()) row.rank = static_cast<int>(step.sizes.size());
    for (size_t d = 0; d < step.sizes.size(); ++d) {
      const size_t from = step.sizes.size() - 1 - d;
      row.sizes[d] = step.sizes[from];
      row.x_strides[d] = step.x_strides[from];
      row.index_strides[d] = step.index_strides[from];
      row.count *= step.sizes[from];
    }
    if (row.count == 0) return;
    rows_.push_back(row);
    members_.emplace_back(group, member);
    block_count_ += cuda::TakeBlockCount(row);
  }

  const size_t step_;
  const BatchLayout& layout_;
  std::vector<cuda::TakeRow> rows_;                 // those that have results
  std::vector<std::pair<size_t, size_t>> members_;  // of rows: group, and member of it
  int64_t block_count_ = 0, table_offset_ = 0;
  const cuda::TakeRow* table_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const TakeStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<TakeRun>(step, layout);
}

}  // namespace gpucall
