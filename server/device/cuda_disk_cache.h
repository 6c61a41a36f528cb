// Compiled kernels on disk, so that a restarted server has them at once.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_DISK_CACHE_H_
#define GPUCALL_SERVER_DEVICE_CUDA_DISK_CACHE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace gpucall {

// Any process may read and write the same folder at once: files appear whole, by rename.
// Thread-safe. Nothing here is an error: what cannot be read or written is compiled again.
class KernelDiskCache {
 public:
  // An empty folder: nothing is kept.
  explicit KernelDiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // $XDG_CACHE_HOME/gpucall, else $HOME/.cache/gpucall, else none.
  static KernelDiskCache FromEnvironment();

  // The code kept for what `key` says: all that the code depends on, such as source and options.
  std::optional<std::string> Read(absl::string_view key) const;
  void Write(absl::string_view key, absl::string_view code) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_DISK_CACHE_H_
