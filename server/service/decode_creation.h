// Creations from the wire.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_CREATION_H_
#define GPUCALL_SERVER_SERVICE_DECODE_CREATION_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/creation.pb.h"
#include "server/program/program.h"

namespace gpucall {

// Errors: see decode.h.
absl::StatusOr<CreationAttributes> DecodeCreation(const v1::Creation& creation);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_CREATION_H_
