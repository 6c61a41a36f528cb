// Outputs that a GPU copies to where their callers want them.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_TARGETS_H_
#define GPUCALL_SERVER_DEVICE_CUDA_TARGETS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/device/cuda_layout.h"
#include "server/device/cuda_staging.h"

namespace gpucall {

int64_t OutputBytes(const Execution& execution, size_t output);

// Whether an output of a member of `group` goes from the layout's download region straight to its
// target.
bool IsDirect(const Execution& execution, size_t output, size_t group, const BatchLayout& layout);

// Those, by their offsets from the start of the download region.
std::vector<Staging::Target> DirectTargets(absl::Span<const Execution> batch,
                                           const BatchLayout& layout);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_TARGETS_H_
