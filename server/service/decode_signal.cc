#include "server/service/decode_signal.h"

namespace gpucall {

absl::StatusOr<SignalAttributes> DecodeSignal(const v1::Signal& signal) {
  SignalAttributes attributes;
  if (signal.has_axis()) attributes.axis = signal.axis();
  attributes.final_state = signal.final_state();
  const auto list = [](const auto& numbers) {
    return std::vector<double>(numbers.begin(), numbers.end());
  };
  switch (signal.kind_case()) {
    case v1::Signal::kLfilter:
      attributes.kind = SignalKind::kLfilter;
      attributes.b = list(signal.lfilter().b());
      attributes.a = list(signal.lfilter().a());
      return attributes;
    case v1::Signal::kSosfilt:
      attributes.kind = SignalKind::kSosfilt;
      attributes.sections = list(signal.sosfilt().sections());
      return attributes;
    case v1::Signal::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("signal: kind is not set, allowed are lfilter, sosfilt");
}

}  // namespace gpucall
