// From request messages to plain structs. What is checked here is the message itself;
// server/program checks its meaning.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_H_
#define GPUCALL_SERVER_SERVICE_DECODE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "gpucall/v1/compute.pb.h"
#include "server/base/tensor_view.h"
#include "server/program/program.h"

namespace gpucall {

struct DecodedCall {
  Program program;
  std::vector<TensorType> types;  // of the inputs
  std::vector<TensorView> views;  // into the request, which must outlive this
  bool want_receipt = false;
};

// INVALID_ARGUMENT: unset or unknown enum value or oneof, shape out of range, data of the wrong
// length, more than two values for a pair. UNIMPLEMENTED: an elementwise operation unknown here.
// Messages name the field.
absl::StatusOr<DecodedCall> Decode(const v1::ElementwiseRequest& request);
absl::StatusOr<DecodedCall> Decode(const v1::MatMulRequest& request);
absl::StatusOr<DecodedCall> Decode(const v1::FilterRequest& request);
absl::StatusOr<DecodedCall> Decode(const v1::ReduceRequest& request);
absl::StatusOr<DecodedCall> Decode(const v1::RearrangeRequest& request);
absl::StatusOr<DecodedCall> Decode(const v1::RunRequest& request);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_H_
