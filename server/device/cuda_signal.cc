#include <vector>

#include "kernels/cuda/recurrence.h"
#include "server/base/status_macros.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"

namespace gpucall {
namespace {

// A few launches for each execution, with one table of coefficients for all.
class SignalRun : public StepRun {
 public:
  SignalRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    const SignalStep& first = StepOf(0);
    table_.insert(table_.end(), first.b.begin(), first.b.end());
    table_.insert(table_.end(), first.a.begin(), first.a.end());
    coefficient_count_ = table_.size();
    bool divides = false;
    for (size_t g = 0; g < layout.groups().size(); ++g) divides |= RecurrenceDivides(ShapeOf(g));
    if (divides) AddPower(layout);
    table_offset_ = layout.ReserveTable(TableBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    memory_ = memory;
    upload.push_back({table_offset_, table_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      for (size_t i = 0; i < layout_.groups()[g].members.size(); ++i) {
        GPUCALL_RETURN_IF_ERROR(
            CudaStatus(cuda::LaunchRecurrence(RecurrenceOf(g, i), stream), "LaunchRecurrence"));
      }
    }
    return absl::OkStatus();
  }

 private:
  const Plan& PlanOf(size_t group) const { return *layout_.groups()[group].plan; }
  const SignalStep& StepOf(size_t group) const {
    return std::get<SignalStep>(PlanOf(group).steps[step_]);
  }
  int64_t TableBytes() const { return static_cast<int64_t>(table_.size() * sizeof(double)); }

  void AddPower(BatchLayout& layout) {
    const SignalStep& first = StepOf(0);
    const std::vector<double> power = cuda::RecurrencePower(static_cast<int>(first.sections),
                                                            static_cast<int>(first.order), table_);
    table_.insert(table_.end(), power.begin(), power.end());
    for (size_t g = 0; !power.empty() && g < layout.groups().size(); ++g) {
      const cuda::Recurrence shape = ShapeOf(g);
      if (RecurrenceDivides(shape)) layout.RequireScratch(RecurrenceScratchBytes(shape));
    }
  }

  // Without addresses.
  cuda::Recurrence ShapeOf(size_t group) const {
    const SignalStep& step = StepOf(group);
    const DType real = RealPartOf(PlanOf(group).values[step.x].dtype);
    cuda::Recurrence shape = {};
    shape.type = real == DType::kFloat32 ? cuda::Recurrence::Type::kFloat32
                                         : cuda::Recurrence::Type::kFloat64;
    shape.outer = step.outer;
    shape.count = step.count;
    shape.inner = step.inner;
    shape.sections = static_cast<int>(step.sections);
    shape.order = static_cast<int>(step.order);
    return shape;
  }

  cuda::Recurrence RecurrenceOf(size_t group, size_t member) const {
    const SignalStep& step = StepOf(group);
    const auto address = [&](uint32_t value) -> std::byte* {
      if (value == SignalStep::kNone) return nullptr;
      const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
      return memory_ + slots.offset + static_cast<int64_t>(member) * slots.stride;
    };
    cuda::Recurrence recurrence = ShapeOf(group);
    recurrence.x = address(step.x);
    recurrence.zi = reinterpret_cast<const double*>(address(step.zi));
    recurrence.y = address(step.output);
    recurrence.states = address(step.states);
    recurrence.coefficients = reinterpret_cast<const double*>(memory_ + table_offset_);
    if (table_.size() > coefficient_count_ && RecurrenceDivides(recurrence)) {
      recurrence.power = recurrence.coefficients + coefficient_count_;
      recurrence.scratch = reinterpret_cast<double*>(memory_ + layout_.scratch_offset());
    }
    return recurrence;
  }

  const size_t step_;
  const BatchLayout& layout_;
  std::vector<double> table_;  // coefficients, then what a span does to a state
  size_t coefficient_count_ = 0;
  int64_t table_offset_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const SignalStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<SignalRun>(step, layout);
}

}  // namespace gpucall
