#include "server/device/cuda_filter_run.h"

#include <algorithm>

namespace gpucall {
namespace {

cuda::Border BorderOf(BorderMode mode) {
  switch (mode) {
    case BorderMode::kNearest:
      return cuda::Border::kNearest;
    case BorderMode::kReflect:
      return cuda::Border::kReflect;
    case BorderMode::kMirror:
      return cuda::Border::kMirror;
    case BorderMode::kWrap:
      return cuda::Border::kWrap;
    case BorderMode::kConstant:
      return cuda::Border::kConstant;
  }
  return cuda::Border::kConstant;
}

cuda::PixelType PixelTypeOf(DType dtype) {
  return dtype == DType::kUint8 ? cuda::PixelType::kUint8 : cuda::PixelType::kFloat32;
}

}  // namespace

int ChannelsOf(const FilterStep& step) {
  return static_cast<int>(std::max<int64_t>(step.channels, 1));
}

cuda::FilterWindow WindowOf(const FilterStep& step) {
  return {.rows = static_cast<int>(step.size[0]),
          .columns = static_cast<int>(step.size[1]),
          .rows_before = static_cast<int>(step.before[0]),
          .columns_before = static_cast<int>(step.before[1]),
          .border = BorderOf(step.mode),
          .cval = step.cval};
}

cuda::FilterShape ShapeOf(size_t step, const BatchLayout& layout) {
  const Plan& plan = *layout.groups()[0].plan;
  const auto& filter = std::get<FilterStep>(plan.steps[step]);
  cuda::FilterShape shape = {.window = WindowOf(filter),
                             .input = PixelTypeOf(plan.values[filter.image].dtype),
                             .output = PixelTypeOf(plan.values[filter.output].dtype),
                             .channels = ChannelsOf(filter)};
  shape.images = 0;
  for (const BatchLayout::Group& group : layout.groups()) {
    const auto& image = std::get<FilterStep>(group.plan->steps[step]);
    shape.rows = std::max<long long>(shape.rows, image.rows);
    shape.columns = std::max<long long>(shape.columns, image.columns);
    shape.images += static_cast<int>(image.images * static_cast<int64_t>(group.members.size()));
  }
  return shape;
}

FilterRun::FilterRun(size_t step, BatchLayout& layout, cuda::FilterTile tile)
    : step_(step), layout_(layout) {
  batch_.channels = ChannelsOf(StepOf(0));
  batch_.input = PixelTypeOf(PlanOf(0).values[StepOf(0).image].dtype);
  batch_.output = PixelTypeOf(PlanOf(0).values[StepOf(0).output].dtype);
  batch_.window = WindowOf(StepOf(0));
  batch_.tile = tile;
  for (size_t g = 0; g < layout.groups().size(); ++g) {
    const auto members = static_cast<int64_t>(layout.groups()[g].members.size());
    if (!IsEmpty(g)) batch_.image_count += static_cast<int>(StepOf(g).images * members);
  }
  if (batch_.image_count > 1) table_offset_ = layout.ReserveTable(TableBytes());
}

void FilterRun::FillTables(std::byte* memory, std::vector<Staging::Segment>& upload) {
  memory_ = memory;
  for (size_t g = 0; g < layout_.groups().size(); ++g) {
    for (size_t i = 0; i < layout_.groups()[g].members.size() && !IsEmpty(g); ++i) AddImages(g, i);
  }
  if (batch_.image_count == 1) batch_.only = images_[0];
  if (batch_.image_count <= 1) return;
  batch_.table = reinterpret_cast<const cuda::FilterImage*>(memory + table_offset_);
  upload.push_back({table_offset_, images_.data(), TableBytes()});
}

std::byte* FilterRun::Address(uint32_t value, size_t group, size_t member) const {
  const BatchLayout::Slots slots = layout_.SlotsOf(value, group);
  return memory_ + slots.offset + static_cast<int64_t>(member) * slots.stride;
}

int64_t FilterRun::TableBytes() const {
  return batch_.image_count * static_cast<int64_t>(sizeof(cuda::FilterImage));
}

void FilterRun::AddImages(size_t group, size_t member) {
  const FilterStep& step = StepOf(group);
  const auto& values = PlanOf(group).values;
  const int64_t input_bytes = values[step.image].size_bytes() / step.images,
                output_bytes = values[step.output].size_bytes() / step.images;
  for (int64_t i = 0; i < step.images; ++i) {
    cuda::FilterImage image;
    image.input = Address(step.image, group, member) + i * input_bytes;
    image.output = Address(step.output, group, member) + i * output_bytes;
    image.rows = step.rows;
    image.columns = step.columns;
    image.first_block = batch_.block_count;
    CompleteImage(images_.size(), group, member, image);
    batch_.block_count += cuda::FilterBlockCount(batch_.tile, step.rows, step.columns);
    images_.push_back(image);
  }
}

}  // namespace gpucall
