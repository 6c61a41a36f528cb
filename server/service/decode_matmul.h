// From messages to attributes of matrix products.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_MATMUL_H_
#define GPUCALL_SERVER_SERVICE_DECODE_MATMUL_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/matmul.pb.h"
#include "server/program/program.h"

namespace gpucall {

// INVALID_ARGUMENT: an unknown dtype, precision or activation. The message names the field.
absl::StatusOr<MatMulAttributes> DecodeMatMul(const v1::MatMul& matmul);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_MATMUL_H_
