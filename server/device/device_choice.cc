#include "server/device/device_choice.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/status_macros.h"
#include "server/device/cpu_device.h"
#include "server/device/cuda_module.h"

namespace gpucall {
namespace {

absl::StatusOr<int> Ordinal(absl::string_view wanted) {
  int ordinal = 0;
  if (wanted == "cuda" || wanted == "auto") return 0;
  absl::string_view number = wanted;
  if (absl::ConsumePrefix(&number, "cuda:") && absl::SimpleAtoi(number, &ordinal) && ordinal >= 0)
    return ordinal;
  return absl::InvalidArgumentError(absl::StrCat(
      "device: is '", wanted, "', allowed are auto, cpu, cuda and cuda:N with N from 0"));
}

std::string Describe(const DeviceInfo& info) { return absl::StrCat(info.id, " (", info.name, ")"); }

}  // namespace

absl::StatusOr<DeviceChoice> ChooseDevice(const std::string& wanted) {
  DeviceChoice choice;
  if (wanted == "cpu") {
    choice.device = MakeCpuDevice();
    choice.reason = absl::StrCat(Describe(choice.device->info()), ", as asked");
    return choice;
  }
  GPUCALL_ASSIGN_OR_RETURN(const int ordinal, Ordinal(wanted));
  absl::StatusOr<std::unique_ptr<Device>> gpu = LoadCudaDevice(ordinal);
  if (gpu.ok()) {
    choice.device = *std::move(gpu);
    choice.reason = absl::StrCat(Describe(choice.device->info()),
                                 wanted == "auto" ? ", a usable GPU" : ", as asked");
    return choice;
  }
  if (wanted != "auto") return gpu.status();
  choice.device = MakeCpuDevice();
  choice.reason =
      absl::StrCat(Describe(choice.device->info()), ", no usable GPU: ", gpu.status().message());
  return choice;
}

}  // namespace gpucall
