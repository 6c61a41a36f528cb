// Operations on images, from the wire.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_IMAGE_H_
#define GPUCALL_SERVER_SERVICE_DECODE_IMAGE_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/image.pb.h"
#include "server/program/program.h"

namespace gpucall {

// Errors: see decode.h.
absl::StatusOr<ImageAttributes> DecodeImage(const v1::Image& image);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_IMAGE_H_
