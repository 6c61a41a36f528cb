// What the steps of all forms of filters share.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_FILTER_RUN_H_
#define GPUCALL_SERVER_DEVICE_CUDA_FILTER_RUN_H_

#include <cstddef>
#include <vector>

#include "kernels/cuda/filter.h"
#include "server/device/cuda_step.h"

namespace gpucall {

// The window of the batch's filter.
cuda::FilterWindow WindowOf(const FilterStep& step);
int ChannelsOf(const FilterStep& step);
// What kernels are chosen by.
cuda::FilterShape ShapeOf(size_t step, const BatchLayout& layout);

// The images of a batch, as the kernels take them.
class FilterRun : public StepRun {
 public:
  // `tile`: of the kernel that numbers blocks.
  FilterRun(size_t step, BatchLayout& layout, cuda::FilterTile tile);

  void FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) override;

 protected:
  // Adds to the image number `index` of the batch what the form needs.
  virtual void CompleteImage(size_t /*index*/, size_t /*group*/, size_t /*member*/,
                             cuda::FilterImage& /*image*/) {}

  const Plan& PlanOf(size_t group) const { return *layout_.groups()[group].plan; }
  const FilterStep& StepOf(size_t group) const {
    return std::get<FilterStep>(PlanOf(group).steps[step_]);
  }
  bool IsEmpty(size_t group) const {
    return PlanOf(group).values[StepOf(group).output].count() == 0;
  }
  // A value of a member of a group. After FillTables.
  std::byte* Address(uint32_t value, size_t group, size_t member) const;

  const size_t step_;
  BatchLayout& layout_;
  cuda::FilterBatch batch_;
  std::vector<cuda::FilterImage> images_;  // those with pixels
  std::byte* memory_ = nullptr;

 private:
  int64_t TableBytes() const;
  void AddImages(size_t group, size_t member);

  int64_t table_offset_ = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_FILTER_RUN_H_
