// A libcuda.so.1 whose state the environment describes, for cuda_module_test.
#include <cstdlib>

namespace {

int FromEnvironment(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return FromEnvironment("FAKE_CUDA_INIT", 0); }

int cuDriverGetVersion(int* version) {
  *version = FromEnvironment("FAKE_CUDA_VERSION", 13000);
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = FromEnvironment("FAKE_CUDA_COUNT", 1);
  return 0;
}

int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_FAKE";
  return 0;
}
}
