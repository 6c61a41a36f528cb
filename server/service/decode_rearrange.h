// Rearrangements, from the wire.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_REARRANGE_H_
#define GPUCALL_SERVER_SERVICE_DECODE_REARRANGE_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/rearrange.pb.h"
#include "server/program/program.h"

namespace gpucall {

// Errors: see decode.h.
absl::StatusOr<RearrangeAttributes> DecodeRearrange(const v1::Rearrange& rearrange);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_REARRANGE_H_
