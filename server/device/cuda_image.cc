#include <vector>

#include "kernels/cuda/image.h"
#include "server/device/cuda_status.h"
#include "server/device/cuda_step.h"
#include "server/device/image_arguments.h"

namespace gpucall {
namespace {

// One launch for each execution.
class ImageRun : public StepRun {
 public:
  ImageRun(size_t step, BatchLayout& layout) : step_(step), layout_(layout) {
    for (size_t g = 0; g < layout.groups().size(); ++g) {
      if (StepOf(g).form == ImageStep::Form::kHysteresis) {
        layout.RequireScratch(cuda::HysteresisScratchBytes(SizesOf(StepOf(g).in)));
      }
      table_offsets_.push_back(TableBytes(g) == 0 ? 0 : layout.ReserveTable(TableBytes(g)));
    }
  }

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override {
    for (size_t g = 0; g < layout_.groups().size(); ++g) {
      const ImageStep& step = StepOf(g);
      if (TableBytes(g) > 0)
        upload.push_back({table_offsets_[g], step.table.data(), TableBytes(g)});
      for (size_t i = 0; i < layout_.groups()[g].members.size(); ++i) {
        const auto address = [&](uint32_t value) {
          const BatchLayout::Slots slots = layout_.SlotsOf(value, g);
          return memory + slots.offset + static_cast<int64_t>(i) * slots.stride;
        };
        image::Arguments a = ArgumentsOf(step);
        a.x = address(step.x);
        if (step.second != ImageStep::kNone) a.second = address(step.second);
        a.out = address(step.output);
        a.scratch = memory + layout_.scratch_offset();
        a.table = reinterpret_cast<const double*>(memory + table_offsets_[g]);
        arguments_.push_back(a);
      }
    }
  }

  absl::Status Launch(cudaStream_t stream) override {
    for (const image::Arguments& a : arguments_) {
      GPUCALL_RETURN_IF_CUDA_ERROR(LaunchOne(a, stream));
    }
    return absl::OkStatus();
  }

 private:
  const ImageStep& StepOf(size_t group) const {
    return std::get<ImageStep>(layout_.groups()[group].plan->steps[step_]);
  }
  int64_t TableBytes(size_t group) const {
    return static_cast<int64_t>(StepOf(group).table.size() * sizeof(double));
  }

  cudaError_t LaunchOne(const image::Arguments& a, cudaStream_t stream) const {
    const image::Element element =
        ImageElementOf(layout_.groups()[0].plan->values[StepOf(0).x].dtype);
    switch (StepOf(0).form) {
      case ImageStep::Form::kConvertColour:
        return cuda::LaunchConvertColour(a, element, stream);
      case ImageStep::Form::kThreshold:
        return cuda::LaunchThreshold(a, element, stream);
      case ImageStep::Form::kAboveMean:
        return cuda::LaunchAboveMean(a, stream);
      case ImageStep::Form::kLookUp:
        return cuda::LaunchLookUp(a, stream);
      case ImageStep::Form::kSharpen:
        return cuda::LaunchSharpen(a, element, stream);
      case ImageStep::Form::kNormalise:
        return cuda::LaunchNormalise(a, element, stream);
      case ImageStep::Form::kHistogram:
        return cuda::LaunchHistogram(a, element, stream);
      case ImageStep::Form::kOtsuValue:
        return cuda::LaunchOtsuValue(a, stream);
      case ImageStep::Form::kEqualiseTable:
        return cuda::LaunchEqualiseTable(a, stream);
      case ImageStep::Form::kResample:
        return cuda::LaunchResample(a, element, stream);
      case ImageStep::Form::kWarp:
        return cuda::LaunchWarp(a, element, stream);
      case ImageStep::Form::kSmooth:
        return cuda::LaunchSmooth(a, stream);
      case ImageStep::Form::kBilateral:
        return cuda::LaunchBilateral(a, element, stream);
      case ImageStep::Form::kCannyMap:
        return cuda::LaunchCannyMap(a, stream);
      case ImageStep::Form::kHysteresis:
        return cuda::LaunchHysteresis(a, stream);
    }
    return cudaErrorInvalidValue;
  }

  const size_t step_;
  const BatchLayout& layout_;
  std::vector<int64_t> table_offsets_;       // by group
  std::vector<image::Arguments> arguments_;  // of every execution
};

}  // namespace

PreparedStep Prepare(const ImageStep&, size_t step, BatchLayout& layout, const StepTools&) {
  return std::make_unique<ImageRun>(step, layout);
}

}  // namespace gpucall
