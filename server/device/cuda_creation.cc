#include <vector>

#include "kernels/cuda/creation.h"
#include "server/device/creation_recipe.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"

namespace gpucall {
namespace {

class CreationRun : public StepRun {
 public:
  CreationRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      for (size_t i = 0; i < layout.groups()[g].members.size(); ++i) AddRow(g, i);
    }
    if (!rows_.empty()) table_offset_ = layout.ReserveTable(TableBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    if (rows_.empty()) return;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const auto [group, member] = members_[r];
      const BatchLayout::Slots slots = layout_.SlotsOf(StepOf(group).output, group);
      rows_[r].out = memory + slots.offset + static_cast<int64_t>(member) * slots.stride;
    }
    table_ = reinterpret_cast<const cuda::CreationRow*>(memory + table_offset_);
    upload.push_back({table_offset_, rows_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    const DType dtype = layout_.groups()[0].plan->values[StepOf(0).output].dtype;
    return CudaStatus(
        cuda::LaunchCreate(table_, static_cast<int>(rows_.size()), block_count_, IsFloating(dtype),
                           static_cast<int>(ElementSize(dtype)), stream),
        "LaunchCreate");
  }

 private:
  const CreationStep& StepOf(size_t group) const {
    return std::get<CreationStep>(layout_.groups()[group].plan->steps[step_]);
  }
  int64_t TableBytes() const {
    return static_cast<int64_t>(rows_.size() * sizeof(cuda::CreationRow));
  }

  void AddRow(size_t group, size_t member) {
    const CreationStep& step = StepOf(group);
    cuda::CreationRow row = {};
    row.first_block = block_count_;
    row.count = layout_.groups()[group].plan->values[step.output].count();
    row.recipe = RecipeOf(step);
    if (row.count == 0) return;
    rows_.push_back(row);
    members_.emplace_back(group, member);
    block_count_ += cuda::CreationBlockCount(row);
  }

  const size_t step_;
  const BatchLayout& layout_;
  std::vector<cuda::CreationRow> rows_;             // those that have elements
  std::vector<std::pair<size_t, size_t>> members_;  // of rows: group, and member of it
  int64_t block_count_ = 0, table_offset_ = 0;
  const cuda::CreationRow* table_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const CreationStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<CreationRun>(step, layout);
}

}  // namespace gpucall
