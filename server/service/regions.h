// Tensors in shared memory: where a call's inputs are, and where its results go.
#ifndef GPUCALL_SERVER_SERVICE_REGIONS_H_
#define GPUCALL_SERVER_SERVICE_REGIONS_H_

#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "gpucall/v1/tensor.pb.h"
#include "server/device/device.h"
#include "server/store/segment_table.h"

namespace gpucall {

// The elements of an input named `name`. NOT_FOUND: no such segment. INVALID_ARGUMENT: they are not
// all inside it.
absl::StatusOr<HostBytes> FindRegion(const SegmentTable& segments, absl::string_view name,
                                     const v1::Region& region, int64_t size_bytes);

// Where outputs go, by index.
struct PlacedOutputs {
  absl::InlinedVector<HostTarget, 1> targets;
  std::vector<std::optional<v1::Region>> regions;  // set where there is a target
};
// Gives places of `area` to the outputs of a plan that are not kept, as long as they fit. Errors as
// above; INVALID_ARGUMENT too where the area does not begin at a multiple of 64.
absl::StatusOr<PlacedOutputs> PlaceOutputs(const SegmentTable& segments, const v1::Area& area,
                                           const Plan& plan);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_REGIONS_H_
