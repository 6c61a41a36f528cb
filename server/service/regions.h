// Shared memory that a call's results go to.
#ifndef GPUCALL_SERVER_SERVICE_REGIONS_H_
#define GPUCALL_SERVER_SERVICE_REGIONS_H_

#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gpucall/v1/tensor.pb.h"
#include "server/device/device.h"
#include "server/store/segment_table.h"

namespace gpucall {

// Where outputs go, by index; both empty where none has a place.
struct PlacedOutputs {
  absl::InlinedVector<HostTarget, 1> targets;
  std::vector<std::optional<v1::Region>> regions;  // set where there is a target

  bool has(size_t output) const { return output < regions.size() && regions[output].has_value(); }
};
// Gives places of `area` to the outputs of a plan that are not kept, as long as they fit.
// NOT_FOUND: no such segment. INVALID_ARGUMENT: the area is not all inside it, or does not begin at
// a multiple of 64.
absl::StatusOr<PlacedOutputs> PlaceOutputs(const SegmentTable& segments, const v1::Area& area,
                                           const Plan& plan, absl::Span<const bool> keep_outputs);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_REGIONS_H_
