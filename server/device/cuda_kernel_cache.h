// Generated kernels, compiled on first use and kept.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_KERNEL_CACHE_H_
#define GPUCALL_SERVER_DEVICE_CUDA_KERNEL_CACHE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/elementwise_source.h"
#include "kernels/cuda/reduce_source.h"
#include "server/base/mutex.h"
#include "server/device/cuda_disk_cache.h"
#include "server/device/cuda_handles.h"

namespace gpucall {

// A kernel in device memory. Must outlive its launches.
struct LoadedKernel {
  CudaLibrary library;
  cudaKernel_t kernel = nullptr;
};
using KernelPointer = std::shared_ptr<const LoadedKernel>;

// Machine code of `source` for real architecture `compute_capability` (90: sm_90). Needs no GPU.
// INTERNAL with the compiler's log.
absl::StatusOr<std::string> CompileKernel(const std::string& source, int compute_capability);

// Thread-safe.
class KernelCache {
 public:
  KernelCache(int compute_capability, KernelDiskCache disk)
      : compute_capability_(compute_capability), disk_(std::move(disk)) {}

  // Blocks while the kernel is compiled (tens to hundreds of milliseconds), by this thread or
  // another; kernels that are there are not held up by that. Kernels longest not asked for are
  // dropped beyond kMaxKernels; who has one keeps it.
  absl::StatusOr<KernelPointer> Get(const cuda::ElementwiseKernel& kernel);
  absl::StatusOr<KernelPointer> Get(const cuda::ReduceKernel& kernel);

 private:
  static constexpr size_t kMaxKernels = 1024;

  struct Entry {
    KernelPointer kernel;  // null while a thread loads it
    uint64_t last_use = 0;
  };

  // The kernel `name` of the source that make_source returns; equal signatures, equal sources.
  absl::StatusOr<KernelPointer> Get(const std::string& signature, const char* name,
                                    absl::FunctionRef<std::string()> make_source);
  absl::StatusOr<KernelPointer> Load(const char* name, const std::string& source) const;
  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int compute_capability_;
  const KernelDiskCache disk_;
  Mutex mutex_;
  CondVar loaded_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_KERNEL_CACHE_H_
