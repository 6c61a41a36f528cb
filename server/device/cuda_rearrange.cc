#include <vector>

#include "kernels/cuda/copy.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"

namespace gpucall {
namespace {

class RearrangeRun : public StepRun {
 public:
  RearrangeRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      part_count_ += StepOf(g).parts.size() * layout.groups()[g].members.size();
    }
    table_offset_ = layout.ReserveTable(TableBytes());
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      for (size_t i = 0; i < layout_.groups()[g].members.size(); ++i) {
        for (const RearrangeStep::Part& part : StepOf(g).parts) AddPart(part, g, i, memory);
      }
    }
    table_ = reinterpret_cast<const cuda::CopyPart*>(memory + table_offset_);
    if (part_count_ > 0) upload.push_back({table_offset_, parts_.data(), TableBytes()});
  }

  absl::Status Launch(cudaStream_t stream) override {
    return CudaStatus(cuda::LaunchCopy(table_, static_cast<int>(part_count_), block_count_, stream),
                      "LaunchCopy");
  }

 private:
  const RearrangeStep& StepOf(size_t group) const {
    return std::get<RearrangeStep>(layout_.groups()[group].plan->steps[step_]);
  }
  int64_t TableBytes() const { return static_cast<int64_t>(part_count_ * sizeof(cuda::CopyPart)); }

  void AddPart(const RearrangeStep::Part& part, size_t group, size_t member, std::byte* memory) {
    const RearrangeStep& step = StepOf(group);
    const int64_t element_bytes =
        static_cast<int64_t>(ElementSize(layout_.groups()[group].plan->values[step.output].dtype));
    const auto address = [&](uint32_t value, int64_t offset) {
      const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
      return reinterpret_cast<uint64_t>(memory + slots.offset +
                                        static_cast<int64_t>(member) * slots.stride +
                                        offset * element_bytes);
    };
    const uint64_t x =
        part.input == RearrangeStep::kFill ? 0 : address(part.input, part.input_offset);
    cuda::CopyPart made = cuda::MakeCopyPart(
        x, address(step.output, part.output_offset), static_cast<int>(element_bytes), part.sizes,
        part.input_strides, part.output_strides, step.fill.data());
    made.first_block = block_count_;
    block_count_ += cuda::CopyBlockCount(made);
    parts_.push_back(made);
  }

  const size_t step_;
  const BatchLayout& layout_;
  std::vector<cuda::CopyPart> parts_;
  size_t part_count_ = 0;
  int64_t table_offset_ = 0, block_count_ = 0;
  const cuda::CopyPart* table_ = nullptr;
};

}  // namespace

PreparedStep Prepare(const RearrangeStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<RearrangeRun>(step, layout);
}

}  // namespace gpucall
