// Arrays in GPU memory for tests of CUDA kernels.
#ifndef GPUCALL_TESTS_TESTING_DEVICE_ARRAY_H_
#define GPUCALL_TESTS_TESTING_DEVICE_ARRAY_H_

#include <cuda_runtime.h>

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace gpucall {

// Why CUDA kernels cannot run here; empty where they can.
inline std::string MissingGpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return std::string("no GPU: ") + cudaGetErrorString(error);
  return count == 0 ? "no GPU" : "";
}

#define GPUCALL_SKIP_WITHOUT_GPU()                                             \
  if (const std::string missing = ::gpucall::MissingGpu(); !missing.empty()) { \
    GTEST_SKIP() << missing;                                                   \
  }

// Elements that nobody has written hold bytes 0xa5. Failures are reported to GoogleTest.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    if (count == 0) return;
    EXPECT_EQ(cudaMalloc(&data_, count * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0xa5, count * sizeof(T)), cudaSuccess);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    if (values.empty()) return;
    EXPECT_EQ(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  DeviceArray(DeviceArray&& other) noexcept : data_(other.data_), count_(other.count_) {
    other.data_ = nullptr;
  }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceArray() { static_cast<void>(cudaFree(data_)); }

  T* data() const { return static_cast<T*>(data_); }

  // Waits for all work of the GPU.
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    if (count_ > 0) {
      EXPECT_EQ(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost),
                cudaSuccess);
    }
    return values;
  }

 private:
  void* data_ = nullptr;
  size_t count_;
};

}  // namespace gpucall

#endif  // GPUCALL_TESTS_TESTING_DEVICE_ARRAY_H_
