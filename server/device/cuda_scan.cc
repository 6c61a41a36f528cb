#include <vector>

#include "kernels/cuda/scan.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"
#include "server/device/numbers.h"

namespace gpucall {
namespace {

class ScanRun : public StepRun {
 public:
  ScanRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    const DType dtype = layout.groups()[0].plan->values[StepOf(0).x].dtype;
    kind_ = {.op = StepOf(0).op == ScanOp::kCumSum ? cuda::ScanOp::kSum : cuda::ScanOp::kProd,
             .numbers = NumbersOf(dtype),
             .bytes = static_cast<int>(ElementSize(dtype))};
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      for (size_t i = 0; i < layout.groups()[g].members.size(); ++i) AddRow(g, i);
    }
    layout.RequireScratch(totals_bytes_);
    if (!rows_.empty()) table_offset_ = layout.ReserveTable(TableBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    if (rows_.empty()) return;
    std::byte* totals = memory + layout_.scratch_offset();
    for (size_t r = 0; r < rows_.size(); ++r) {
      const auto [group, member] = members_[r];
      const auto address = [&, g = group, i = member](uint32_t value) {
        const BatchLayout::Slots slots = layout_.SlotsOf(value, g);
        return memory + slots.offset + static_cast<int64_t>(i) * slots.stride;
      };
      rows_[r].x = address(StepOf(group).x);
      rows_[r].out = address(StepOf(group).output);
      rows_[r].totals = totals;
      totals += cuda::ScanTotalsBytes(rows_[r]);
    }
    table_ = reinterpret_cast<const cuda::ScanRow*>(memory + table_offset_);
    upload.push_back({table_offset_, rows_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    return CudaStatus(cuda::LaunchScan(kind_, table_, static_cast<int>(rows_.size()), warps_,
                                       merged_lines_, stream),
                      "LaunchScan");
  }

 private:
  const ScanStep& StepOf(size_t group) const {
    return std::get<ScanStep>(layout_.groups()[group].plan->steps[step_]);
  }
  int64_t TableBytes() const { return static_cast<int64_t>(rows_.size() * sizeof(cuda::ScanRow)); }

  void AddRow(size_t group, size_t member) {
    const AxisLines& lines = StepOf(group).lines;
    if (lines.line_count() == 0 || lines.count == 0) return;
    cuda::ScanRow row = {};
    row.first_warp = warps_;
    row.first_merged = merged_lines_;
    row.lines = lines.line_count();
    row.count = lines.count;
    row.inner = lines.inner;
    rows_.push_back(row);
    members_.emplace_back(group, member);
    warps_ += cuda::ScanWarps(row);
    merged_lines_ += cuda::ScanMergedLines(row);
    totals_bytes_ += cuda::ScanTotalsBytes(row);
  }

  const size_t step_;
  const BatchLayout& layout_;
  cuda::ScanKind kind_;
  std::vector<cuda::ScanRow> rows_;                 // those that have elements
  std::vector<std::pair<size_t, size_t>> members_;  // of rows: group, and member of it
  int64_t warps_ = 0, merged_lines_ = 0;            // of all rows
  int64_t totals_bytes_ = 0, table_offset_ = 0;
  const cuda::ScanRow* table_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const ScanStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<ScanRun>(step, layout);
}

}  // namespace gpucall
