// From messages to attributes of filters of signals.
#ifndef GPUCALL_SERVER_SERVICE_DECODE_SIGNAL_H_
#define GPUCALL_SERVER_SERVICE_DECODE_SIGNAL_H_

#include "absl/status/statusor.h"
#include "gpucall/v1/signal.pb.h"
#include "server/program/program.h"

namespace gpucall {

// INVALID_ARGUMENT: the kind is not set.
absl::StatusOr<SignalAttributes> DecodeSignal(const v1::Signal& signal);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_DECODE_SIGNAL_H_
