// Tensors of a request, to the inputs of its call.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_INPUTS_H_
#define GPUCALL_SERVER_SERVICE_DECODE_INPUTS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/service/decode.h"
#include "server/service/request_reader.h"

namespace gpucall {

enum class Streaming { kNo, kYes };  // whether elements may come later

// Errors: see decode.h; they begin with `name`.
// The handle's tensor. dtype and shape may be left out; given, they must be the tensor's own.
absl::Status AddResident(absl::string_view name, const v1::Tensor& header, TensorSources& sources,
                         DecodedCall& call);
absl::Status AddInput(absl::string_view name, const WireTensor& tensor, TensorSources& sources,
                      DecodedCall& call, Streaming streaming = Streaming::kNo);
// Of a field that must be there; null: it is not.
absl::Status AddInput(absl::string_view name, const WireTensor* tensor, TensorSources& sources,
                      DecodedCall& call);
absl::Status AddInputs(absl::Span<const WireTensor> tensors, TensorSources& sources,
                       DecodedCall& call, Streaming streaming = Streaming::kNo);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_INPUTS_H_
