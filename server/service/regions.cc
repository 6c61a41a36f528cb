#include "server/service/regions.h"

#include "absl/strings/str_cat.h"

namespace gpucall {
namespace {

constexpr uint64_t kAlignment = 64;  // of results

absl::Status InArea(const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("output_area: ", status.message()));
}

}  // namespace

absl::StatusOr<PlacedOutputs> PlaceOutputs(const SegmentTable& segments, const v1::Area& area,
                                           const Plan& plan, absl::Span<const bool> keep_outputs) {
  const absl::StatusOr<std::shared_ptr<const Segment>> segment = segments.Find(area.segment());
  if (!segment.ok()) return InArea(segment.status());
  const absl::StatusOr<std::byte*> data = (*segment)->At(area.offset(), area.size_bytes());
  if (!data.ok()) return InArea(data.status());
  if (area.offset() % kAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat("output_area: offset is ", area.offset(),
                                                   ", allowed are multiples of ", kAlignment));
  }
  PlacedOutputs placed;
  placed.targets.resize(plan.outputs.size());
  placed.regions.resize(plan.outputs.size());
  uint64_t used = 0;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const auto size_bytes = static_cast<uint64_t>(plan.values[plan.outputs[i]].size_bytes());
    const bool kept = i < keep_outputs.size() && keep_outputs[i];
    const bool fits = used <= area.size_bytes() && size_bytes <= area.size_bytes() - used;
    if (kept || !fits || size_bytes == 0) continue;
    placed.targets[i] = {*data + used, *segment, (*segment)->is_pinned()};
    v1::Region& region = placed.regions[i].emplace();
    region.set_segment(area.segment());
    region.set_offset(area.offset() + used);
    used += (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  return placed;
}

}  // namespace gpucall
