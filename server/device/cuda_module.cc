#include "server/device/cuda_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "server/base/status_macros.h"

namespace gpucall {
namespace {

namespace fs = std::filesystem;

constexpr char kModuleName[] = "gpucall_cuda.so";
constexpr int kRequiredDriver = 13000;  // as cuDriverGetVersion counts: 1000 * major + 10 * minor
constexpr const char* kToolkitLibraries[] = {"libnvrtc-builtins.so.13", "libnvrtc.so.13",
                                             "libcublasLt.so.13"};

// Results of the driver interface (cuda.h's CUresult) that have a cause of their own.
constexpr int kCudaSuccess = 0;
constexpr int kCudaNoDevice = 100;

absl::Status Unusable(absl::string_view cause, absl::string_view message) {
  return absl::FailedPreconditionError(absl::StrCat(cause, ": ", message));
}

// The few calls of libcuda.so.1 that tell what is wrong before the module is loaded.
struct Driver {
  int (*init)(unsigned flags) = nullptr;
  int (*get_version)(int* version) = nullptr;
  int (*get_count)(int* count) = nullptr;
  int (*get_error_name)(int result, const char** name) = nullptr;

  std::string ErrorName(int result) const {
    const char* name = nullptr;
    if (get_error_name(result, &name) != kCudaSuccess || name == nullptr) name = "unknown error";
    return absl::StrCat(name, " (", result, ")");
  }
};

template <typename FunctionT>
bool Find(void* library, const char* symbol, FunctionT& function) {
  function = reinterpret_cast<FunctionT>(dlsym(library, symbol));
  return function != nullptr;
}

absl::StatusOr<Driver> OpenDriver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Unusable("driver", absl::StrCat("no NVIDIA driver: ", dlerror()));
  Driver driver;
  if (!Find(library, "cuInit", driver.init) ||
      !Find(library, "cuDriverGetVersion", driver.get_version) ||
      !Find(library, "cuDeviceGetCount", driver.get_count) ||
      !Find(library, "cuGetErrorName", driver.get_error_name)) {
    return Unusable("driver", absl::StrCat("libcuda.so.1 is not usable: ", dlerror()));
  }
  return driver;
}

// The device files that exist but that this process may not open, comma-separated.
std::string ForbiddenDeviceFiles() {
  std::vector<std::string> forbidden;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("nvidia") || entry.is_directory(error)) continue;
    const bool needed = name == "nvidiactl" || name == "nvidia-uvm" ||
                        name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (needed && access(entry.path().c_str(), R_OK | W_OK) != 0 && errno != ENOENT) {
      forbidden.push_back(entry.path().string());
    }
  }
  return absl::StrJoin(forbidden, ", ");
}

// Why fewer GPUs than wanted are visible.
absl::Status NotVisible(int ordinal, int count) {
  if (const std::string files = ForbiddenDeviceFiles(); !files.empty()) {
    return Unusable("permission", absl::StrCat("cannot open ", files, " for reading and writing"));
  }
  std::string message = count == 0 ? std::string("no GPU is visible")
                                   : absl::StrCat("no GPU number ", ordinal, ": ", count,
                                                  " visible, numbered from 0");
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    absl::StrAppend(&message, "; CUDA_VISIBLE_DEVICES is \"", visible, "\"");
  }
  return Unusable("device", message);
}

absl::Status CheckDriver(int ordinal) {
  GPUCALL_ASSIGN_OR_RETURN(const Driver driver, OpenDriver());
  int version = 0;
  if (const int result = driver.get_version(&version); result != kCudaSuccess) {
    return Unusable("driver", absl::StrCat("cuDriverGetVersion: ", driver.ErrorName(result)));
  }
  if (version < kRequiredDriver) {
    return Unusable("driver", absl::StrCat("the NVIDIA driver offers CUDA ", version / 1000, ".",
                                           version % 1000 / 10, ", at least 13.0 is needed"));
  }
  const int result = driver.init(0);
  if (result == kCudaNoDevice) return NotVisible(ordinal, 0);
  if (result != kCudaSuccess) {
    const std::string files = ForbiddenDeviceFiles();
    if (!files.empty()) return NotVisible(ordinal, 0);
    return Unusable("driver", absl::StrCat("cuInit: ", driver.ErrorName(result)));
  }
  int count = 0;
  if (const int failed = driver.get_count(&count); failed != kCudaSuccess) {
    return Unusable("driver", absl::StrCat("cuDeviceGetCount: ", driver.ErrorName(failed)));
  }
  if (ordinal < 0 || ordinal >= count) return NotVisible(ordinal, count);
  return absl::OkStatus();
}

std::vector<fs::path> ModuleFolders() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = executable.parent_path();
  return {folder, (folder / ".." / "lib").lexically_normal()};
}

// Where CUDA's libraries may lie beyond the loader's own search path: below
// $GPUCALL_CUDA_LIBRARIES (a list as $PATH; each a folder of libraries, of Python packages, or
// their "nvidia"), beside the server, and at the toolkit's usual place.
std::vector<fs::path> ToolkitFolders() {
  std::vector<fs::path> roots;
  if (const char* given = std::getenv("GPUCALL_CUDA_LIBRARIES"); given != nullptr) {
    for (absl::string_view root : absl::StrSplit(given, ':', absl::SkipEmpty())) {
      roots.emplace_back(std::string(root));
    }
  }
  for (const fs::path& folder : ModuleFolders()) roots.push_back(folder);
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    folders.push_back(root);
    for (const fs::path& nvidia : {root, root / "nvidia"}) {
      for (const char* package : {"cu13", "cublas", "cuda_nvrtc"}) {
        folders.push_back(nvidia / package / "lib");
      }
    }
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  return folders;
}

// Loads the file of `folder` whose name begins with `library`, if there is one.
bool Preload(const fs::path& folder, const char* library) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(library) &&
        dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) {
      return true;
    }
  }
  return false;
}

// Loads what the module needs by path. The loader then takes these for the module by their name.
void PreloadToolkit() {
  const std::vector<fs::path> folders = ToolkitFolders();
  for (const char* library : kToolkitLibraries) {
    for (const fs::path& folder : folders) {
      if (Preload(folder, library)) break;
    }
  }
}

absl::StatusOr<void*> OpenModule() {
  const std::vector<fs::path> folders = ModuleFolders();
  for (const fs::path& folder : folders) {
    const fs::path path = folder / kModuleName;
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    if (void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); module != nullptr) {
      return module;
    }
    PreloadToolkit();
    if (void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); module != nullptr) {
      return module;
    }
    return Unusable("toolkit", absl::StrCat(dlerror(),
                                            "; set GPUCALL_CUDA_LIBRARIES to the folder of "
                                            "CUDA 13's libraries, or install them"));
  }
  const auto append = [](std::string* out, const fs::path& path) { out->append(path.string()); };
  return Unusable("toolkit",
                  absl::StrCat(kModuleName, " is not in ", absl::StrJoin(folders, " or ", append),
                               ": this server was built without CUDA"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> LoadCudaDevice(int ordinal) {
  GPUCALL_RETURN_IF_ERROR(CheckDriver(ordinal));
  GPUCALL_ASSIGN_OR_RETURN(void* const module, OpenModule());
  CudaFactory factory = nullptr;
  if (!Find(module, kCudaFactorySymbol, factory)) {
    return Unusable("toolkit", absl::StrCat(kModuleName, " is damaged: ", dlerror()));
  }
  return factory(ordinal);
}

}  // namespace gpucall
