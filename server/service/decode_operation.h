// Operations and their attributes, from the wire.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_OPERATION_H_
#define GPUCALL_SERVER_SERVICE_DECODE_OPERATION_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/operation.pb.h"
#include "server/program/program.h"

namespace gpucall {

// Errors: see decode.h.
absl::StatusOr<DType> DecodeDType(absl::string_view field, v1::DType dtype);
absl::StatusOr<BorderMode> DecodeBorderMode(absl::string_view name, v1::BorderMode mode);
// `output_dtype` is of casts only.
absl::StatusOr<decltype(Operation::attributes)> DecodeElementwise(v1::ElementwiseOp op,
                                                                  v1::DType output_dtype);
// FilterAttributes or NdFilterAttributes.
absl::StatusOr<decltype(Operation::attributes)> DecodeFilter(const v1::Filter& filter);
absl::StatusOr<ReduceAttributes> DecodeReduce(const v1::Reduce& reduce);
absl::StatusOr<Operation> DecodeOperation(const v1::Operation& operation);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_OPERATION_H_
