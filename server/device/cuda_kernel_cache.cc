#include "server/device/cuda_kernel_cache.h"

#include <nvrtc.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/device/cuda_status.h"

namespace gpucall {
namespace {

struct NvrtcDeleter {
  using pointer = nvrtcProgram;
  void operator()(nvrtcProgram program) const noexcept {
    static_cast<void>(nvrtcDestroyProgram(&program));
  }
};
using NvrtcProgram = std::unique_ptr<nvrtcProgram, NvrtcDeleter>;

absl::Status NvrtcStatus(nvrtcResult result, absl::string_view what) {
  if (result == NVRTC_SUCCESS) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("NVRTC error ", nvrtcGetErrorString(result), " in ", what));
}

std::string LogOf(nvrtcProgram program) {
  size_t size = 0;
  if (nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS) return "";
  std::string log(size, '\0');
  if (nvrtcGetProgramLog(program, log.data()) != NVRTC_SUCCESS) return "";
  return log;
}

// All that the machine code depends on.
std::string DiskKey(const std::string& source, int compute_capability) {
  int major = 0, minor = 0;
  if (nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return "";
  return absl::StrCat(major, ".", minor, "\n",
                      absl::StrJoin(cuda::ElementwiseOptions(compute_capability), "\n"), "\n",
                      source);
}

}  // namespace

absl::StatusOr<std::string> CompileKernel(const std::string& source, int compute_capability) {
  nvrtcProgram made = nullptr;
  GPUCALL_RETURN_IF_ERROR(
      NvrtcStatus(nvrtcCreateProgram(&made, source.c_str(), "gpucall.cu", 0, nullptr, nullptr),
                  "nvrtcCreateProgram"));
  const NvrtcProgram program(made);
  const std::vector<std::string> options = cuda::ElementwiseOptions(compute_capability);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const nvrtcResult result =
      nvrtcCompileProgram(program.get(), static_cast<int>(pointers.size()), pointers.data());
  if (result == NVRTC_ERROR_COMPILATION) {
    return absl::InternalError(absl::StrCat("a kernel did not compile: ", LogOf(program.get())));
  }
  GPUCALL_RETURN_IF_ERROR(NvrtcStatus(result, "nvrtcCompileProgram"));
  size_t size = 0;
  GPUCALL_RETURN_IF_ERROR(
      NvrtcStatus(nvrtcGetCUBINSize(program.get(), &size), "nvrtcGetCUBINSize"));
  std::string code(size, '\0');
  GPUCALL_RETURN_IF_ERROR(NvrtcStatus(nvrtcGetCUBIN(program.get(), code.data()), "nvrtcGetCUBIN"));
  return code;
}

absl::StatusOr<KernelPointer> KernelCache::Get(const cuda::ElementwiseKernel& kernel) {
  return Get(cuda::ElementwiseSignature(kernel), cuda::kElementwiseKernelName, [&] {
    return cuda::ElementwisePrelude(cuda::KindsOf(kernel)) +
           cuda::ElementwiseSource(kernel, cuda::kElementwiseKernelName);
  });
}

absl::StatusOr<KernelPointer> KernelCache::Get(const cuda::ReduceKernel& kernel) {
  return Get(cuda::ReduceSignature(kernel), cuda::kReduceKernelName, [&] {
    return cuda::ReducePrelude(kernel.form) + cuda::ReduceSource(kernel, cuda::kReduceKernelName);
  });
}

absl::StatusOr<KernelPointer> KernelCache::Get(const std::string& signature, const char* name,
                                               absl::FunctionRef<std::string()> make_source) {
  {
    MutexLock lock(mutex_);
    while (true) {
      const auto found = entries_.find(signature);
      if (found == entries_.end()) break;
      if (found->second.kernel != nullptr) {
        found->second.last_use = ++uses_;
        return found->second.kernel;
      }
      loaded_.Wait(mutex_);
    }
    if (entries_.size() >= kMaxKernels) DropOldest();
    entries_[signature] = {};
  }
  absl::StatusOr<KernelPointer> loaded = Load(name, make_source());
  MutexLock lock(mutex_);
  if (loaded.ok()) {
    entries_[signature] = {.kernel = *loaded, .last_use = ++uses_};
  } else {
    entries_.erase(signature);
  }
  loaded_.NotifyAll();
  return loaded;
}

absl::StatusOr<KernelPointer> KernelCache::Load(const char* name, const std::string& source) const {
  const std::string key = DiskKey(source, compute_capability_);
  std::optional<std::string> code = disk_.Read(key);
  if (!code.has_value()) {
    GPUCALL_ASSIGN_OR_RETURN(code, CompileKernel(source, compute_capability_));
    disk_.Write(key, *code);
  }
  auto loaded = std::make_shared<LoadedKernel>();
  cudaLibrary_t library = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(
      cudaLibraryLoadData(&library, code->data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  loaded->library.reset(library);
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaLibraryGetKernel(&loaded->kernel, library, name));
  return loaded;
}

// Entries that threads wait for stay.
void KernelCache::DropOldest() {
  auto oldest = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->second.kernel == nullptr) continue;
    if (oldest == entries_.end() || it->second.last_use < oldest->second.last_use) oldest = it;
  }
  if (oldest != entries_.end()) entries_.erase(oldest);
}

}  // namespace gpucall
