// Run with fake_libcuda.cc's libcuda.so.1 first on the library path, beside which there is no
// module.
#include "server/device/cuda_module.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gpucall {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CudaModuleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"FAKE_CUDA_INIT", "FAKE_CUDA_VERSION", "FAKE_CUDA_COUNT", "CUDA_VISIBLE_DEVICES"}) {
      unsetenv(name);
    }
  }

  static std::string Cause(int ordinal) {
    const absl::Status status = LoadCudaDevice(ordinal).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }
};

TEST_F(CudaModuleTest, OldDriver) {
  setenv("FAKE_CUDA_VERSION", "12040", 1);
  EXPECT_THAT(Cause(0), AllOf(StartsWith("driver: "), HasSubstr("12.4"), HasSubstr("13.0")));
}

TEST_F(CudaModuleTest, BrokenDriver) {
  setenv("FAKE_CUDA_INIT", "999", 1);
  EXPECT_THAT(Cause(0), AllOf(StartsWith("driver: "), HasSubstr("CUDA_ERROR_FAKE (999)")));
}

TEST_F(CudaModuleTest, NoDevice) {
  setenv("FAKE_CUDA_INIT", "100", 1);
  EXPECT_THAT(Cause(0), AllOf(StartsWith("device: "), HasSubstr("no GPU is visible")));
}

TEST_F(CudaModuleTest, HiddenDevices) {
  setenv("FAKE_CUDA_INIT", "100", 1);
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  EXPECT_THAT(Cause(0), AllOf(StartsWith("device: "), HasSubstr("CUDA_VISIBLE_DEVICES is \"-1\"")));
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_THAT(Cause(0), HasSubstr("CUDA_VISIBLE_DEVICES is \"\""));
}

TEST_F(CudaModuleTest, NoSuchDevice) {
  setenv("FAKE_CUDA_COUNT", "2", 1);
  EXPECT_THAT(Cause(2),
              AllOf(StartsWith("device: "), HasSubstr("number 2"), HasSubstr("2 visible")));
  EXPECT_THAT(Cause(-1), StartsWith("device: "));
}

TEST_F(CudaModuleTest, NoModule) {
  EXPECT_THAT(Cause(0), AllOf(StartsWith("toolkit: "), HasSubstr("gpucall_cuda.so")));
}

}  // namespace
}  // namespace gpucall
