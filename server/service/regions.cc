#include "server/service/regions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

constexpr uint64_t kAlignment = 64;  // of results

absl::Status Named(absl::string_view name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

}  // namespace

absl::StatusOr<HostBytes> FindRegion(const SegmentTable& segments, absl::string_view name,
                                     const v1::Region& region, int64_t size_bytes) {
  absl::StatusOr<std::shared_ptr<const Segment>> segment = segments.Find(region.segment());
  if (!segment.ok()) return Named(name, segment.status());
  const absl::StatusOr<std::byte*> data =
      (*segment)->At(region.offset(), static_cast<uint64_t>(size_bytes));
  if (!data.ok()) return Named(name, data.status());
  const bool is_pinned = (*segment)->is_pinned();
  HostBytes bytes;
  bytes.Add({*data, size_bytes, *std::move(segment), is_pinned});
  return bytes;
}

absl::StatusOr<PlacedOutputs> PlaceOutputs(const SegmentTable& segments, const v1::Area& area,
                                           const Plan& plan) {
  constexpr absl::string_view kName = "output_area";
  const absl::StatusOr<std::shared_ptr<const Segment>> segment = segments.Find(area.segment());
  if (!segment.ok()) return Named(kName, segment.status());
  const absl::StatusOr<std::byte*> data = (*segment)->At(area.offset(), area.size_bytes());
  if (!data.ok()) return Named(kName, data.status());
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
    if (size_bytes == 0 || used > area.size_bytes() || size_bytes > area.size_bytes() - used) {
      continue;
    }
    placed.targets[i] = {*data + used, *segment, (*segment)->is_pinned()};
    v1::Region& region = placed.regions[i].emplace();
    region.set_segment(area.segment());
    region.set_offset(area.offset() + used);
    used += (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  return placed;
}

}  // namespace gpucall
