// Filters over axes, from the wire.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_FILTER_ND_H_
#define GPUCALL_SERVER_SERVICE_DECODE_FILTER_ND_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/operation.pb.h"
#include "server/program/program.h"

namespace gpucall {

// Errors: see decode.h.
// True where the message says more than a filter over rows and columns has.
bool IsNdFilter(const v1::Filter& filter);
// All but the output dtype. REQUIRES: IsNdFilter.
absl::StatusOr<NdFilterAttributes> DecodeNdFilter(const v1::Filter& filter);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_FILTER_ND_H_
