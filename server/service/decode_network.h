// From messages to attributes of convolutions and pools.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_NETWORK_H_
#define GPUCALL_SERVER_SERVICE_DECODE_NETWORK_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/network.pb.h"
#include "server/program/program.h"

namespace gpucall {

// INVALID_ARGUMENT: the kind is not set, an unknown layout, too many values for the axes. The
// message names the field.
absl::StatusOr<NetworkAttributes> DecodeNetwork(const v1::Network& network);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_NETWORK_H_
