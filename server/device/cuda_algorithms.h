// Choices of cuBLASLt on disk, beside the kernels, so that a restarted server has them at once.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_ALGORITHMS_H_
#define GPUCALL_SERVER_DEVICE_CUDA_ALGORITHMS_H_

#include <cublasLt.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/matmul.h"
#include "server/device/cuda_disk_cache.h"

namespace gpucall {

// Those of one version of the library on one kind of GPU. Used by one thread at a time.
class DiskAlgorithms : public cuda::AlgorithmStore {
 public:
  DiskAlgorithms(KernelDiskCache disk, const std::string& gpu)
      : disk_(std::move(disk)), prefix_(absl::StrCat(gpu, " ", cublasLtGetVersion(), " ")) {}

  std::optional<std::string> Read(const std::string& key) override {
    return disk_.Read(prefix_ + key);
  }
  void Write(const std::string& key, const std::string& algorithm) override {
    disk_.Write(prefix_ + key, algorithm);
  }

 private:
  const KernelDiskCache disk_;
  const std::string prefix_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_ALGORITHMS_H_
