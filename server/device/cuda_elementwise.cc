#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cuda/elementwise_row.h"
#include "server/device/cuda_broadcast.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"
#include "server/program/catalogue.h"

namespace gpucall {
namespace {

cuda::ReadMode ReadModeOf(Broadcast broadcast) {
  switch (broadcast) {
    case Broadcast::kFull:
      return cuda::ReadMode::kFull;
    case Broadcast::kScalar:
      return cuda::ReadMode::kScalar;
    case Broadcast::kStrided:
      return cuda::ReadMode::kStrided;
  }
  return cuda::ReadMode::kFull;
}

// The step's kernel, but for its rank.
cuda::ElementwiseKernel KernelOf(const ElementwiseStep& step, const Plan& plan) {
  cuda::ElementwiseKernel kernel;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    kernel.inputs.push_back(
        {ElementTypeOf(plan.values[step.inputs[i]].dtype), ReadModeOf(step.broadcasts[i])});
  }
  for (const ElementwiseStep::Instruction& instruction : step.instructions) {
    const absl::string_view function = FunctionName(instruction.op);
    kernel.instructions.push_back(
        {.function = {function.data(), function.size()},
         .type = ElementTypeOf(instruction.computed_in),
         .result = ElementTypeOf(instruction.result),
         .operands = instruction.operands,
         .operand_count = static_cast<uint8_t>(RowOf(instruction.op).inputs),
         .selects = IsCondition(instruction.op, 0),
         .faults = MayFault(instruction.op, instruction.computed_in)});
  }
  for (const ElementwiseStep::Output& output : step.outputs) {
    kernel.outputs.push_back(output.register_index);
  }
  return kernel;
}

// How strided inputs are walked.
StridedShape WalkOf(const ElementwiseStep& step, const Plan& plan) {
  StridedShape shape = {.sizes = {step.shape.begin(), step.shape.end()}, .strides = {}};
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.broadcasts[i] != Broadcast::kStrided) continue;
    shape.strides.push_back(BroadcastStrides(plan.values[step.inputs[i]].shape, step.shape));
  }
  return Collapse(shape);
}

int KernelRank(size_t rank) { return rank <= 2 ? 2 : rank <= 4 ? 4 : 8; }

class ElementwiseRun : public StepRun {
 public:
  ElementwiseRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    kernel_ = KernelOf(StepOf(0), *layout.groups()[0].plan);
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      walks_.push_back(WalkOf(StepOf(g), *layout.groups()[g].plan));
      if (!walks_.back().strides.empty()) {
        kernel_.rank = std::max(kernel_.rank, KernelRank(walks_.back().rank()));
      }
      if (ElementCount(StepOf(g).shape) > 0) row_count_ += MembersOf(g).size();
    }
    words_.resize(row_count_ * static_cast<size_t>(cuda::ElementwiseRowWords(kernel_)));
    if (row_count_ > 1) table_offset_ = layout.ReserveTable(TableBytes());
  }

  absl::Status Load(KernelCache& kernels) {
    GPUCALL_ASSIGN_OR_RETURN(loaded_, kernels.Get(kernel_));
    return absl::OkStatus();
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    const size_t row_words = static_cast<size_t>(cuda::ElementwiseRowWords(kernel_));
    absl::Span<uint64_t> rest = absl::MakeSpan(words_);
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      if (ElementCount(StepOf(g).shape) == 0) continue;
      for (size_t i = 0; i < MembersOf(g).size(); ++i) {
        WriteRow(g, i, reinterpret_cast<uint64_t>(memory), rest.first(row_words));
        rest.remove_prefix(row_words);
      }
    }
    if (row_count_ <= 1) return;
    table_ = memory + table_offset_;
    upload.push_back({table_offset_, words_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    if (row_count_ == 0) return absl::OkStatus();
    int row_count = static_cast<int>(row_count_);
    void* arguments[] = {words_.data(), &table_, &row_count};
    return CudaStatus(cudaLaunchKernel(reinterpret_cast<const void*>(loaded_->kernel),
                                       dim3(static_cast<unsigned>(block_count_)),
                                       dim3(cuda::kElementwiseThreads), arguments, 0, stream),
                      "cudaLaunchKernel");
  }

 private:
  const ElementwiseStep& StepOf(size_t group) const {
    return std::get<ElementwiseStep>(layout_.groups()[group].plan->steps[step_]);
  }
  const std::vector<uint32_t>& MembersOf(size_t group) const {
    return layout_.groups()[group].members;
  }
  int64_t TableBytes() const { return static_cast<int64_t>(words_.size() * sizeof(uint64_t)); }

  void WriteRow(size_t group, size_t member, uint64_t memory, absl::Span<uint64_t> words) {
    const ElementwiseStep& step = StepOf(group);
    const auto address = [&](uint32_t value) {
      const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
      return memory + static_cast<uint64_t>(slots.offset) +
             member * static_cast<uint64_t>(slots.stride);
    };
    inputs_.clear();
    outputs_.clear();
    for (const uint32_t value : step.inputs) inputs_.push_back(address(value));
    for (const auto& output : step.outputs) outputs_.push_back(address(output.value));
    cuda::ElementwiseArguments arguments = {
        .count = ElementCount(step.shape), .inputs = inputs_, .outputs = outputs_};
    if (step.may_fault) {
      arguments.fault = memory + static_cast<uint64_t>(layout_.faults_offset()) +
                        MembersOf(group)[member] * sizeof(int32_t);
    }
    const StridedShape& walk = walks_[group];
    std::vector<int64_t> strides;
    for (const auto& operand : walk.strides) {
      strides.insert(strides.end(), operand.begin(), operand.end());
    }
    if (kernel_.rank > 0) {
      arguments.sizes = walk.sizes;
      arguments.strides = strides;
    }
    block_count_ =
        cuda::WriteElementwiseRow(kernel_, arguments, block_count_, {words.data(), words.size()});
  }

  const size_t step_;
  const BatchLayout& layout_;
  cuda::ElementwiseKernel kernel_;
  KernelPointer loaded_;
  std::vector<StridedShape> walks_;  // by group
  std::vector<uint64_t> words_;      // of all rows
  std::vector<uint64_t> inputs_, outputs_;
  size_t row_count_ = 0;
  int64_t block_count_ = 0;
  int64_t table_offset_ = 0;
  std::byte* table_ = nullptr;
};

}  // namespace

// Both are the rows of kernels/dtypes.def; DType has kUnspecified before them.
cuda::ElementType ElementTypeOf(DType dtype) {
  return static_cast<cuda::ElementType>(static_cast<uint8_t>(dtype) - 1);
}

PreparedStep Prepare(const ElementwiseStep&, size_t step, BatchLayout& layout,
                     const StepTools& tools) {
  auto run = std::make_unique<ElementwiseRun>(step, layout);
  GPUCALL_RETURN_IF_ERROR(run->Load(tools.kernels));
  return run;
}

}  // namespace gpucall
