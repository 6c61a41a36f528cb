// Which device the server runs on.
#ifndef GPUCALL_SERVER_DEVICE_DEVICE_CHOICE_H_
#define GPUCALL_SERVER_DEVICE_DEVICE_CHOICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/device/device.h"

namespace gpucall {

struct DeviceChoice {
  std::unique_ptr<Device> device;
  std::string reason;  // one line: what was chosen and why
};

// `wanted`: auto (a GPU where one is usable, else the CPU), cpu, cuda (the first visible GPU) or
// cuda:N. INVALID_ARGUMENT: another word. FAILED_PRECONDITION: a GPU is required and none is
// usable; the message names the cause.
absl::StatusOr<DeviceChoice> ChooseDevice(const std::string& wanted);

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_DEVICE_CHOICE_H_
