#include "server/device/cuda_disk_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace gpucall {
namespace {

namespace fs = std::filesystem;

// FNV-1a of 128 bits, as 32 hexadecimal digits.
// http://www.isthe.com/chongo/tech/comp/fnv/
std::string Digest(absl::string_view text) {
  using Uint128 = unsigned __int128;
  constexpr auto kPrime = (Uint128{1} << 88) + 0x13b;
  Uint128 hash = (Uint128{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
  for (const unsigned char byte : text) hash = (hash ^ byte) * kPrime;
  return absl::StrCat(absl::Hex(static_cast<uint64_t>(hash >> 64), absl::kZeroPad16),
                      absl::Hex(static_cast<uint64_t>(hash), absl::kZeroPad16));
}

constexpr size_t kDigestSize = 32;

fs::path FileOf(const fs::path& folder, absl::string_view key) {
  return folder / absl::StrCat(Digest(key), ".cubin");
}

}  // namespace

KernelDiskCache KernelDiskCache::FromEnvironment() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return KernelDiskCache(fs::path(cache) / "gpucall");
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return KernelDiskCache(fs::path(home) / ".cache" / "gpucall");
  }
  return KernelDiskCache(fs::path());
}

std::optional<std::string> KernelDiskCache::Read(absl::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(FileOf(folder_, key), std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  if (!file || content.size() < kDigestSize) return std::nullopt;
  std::string code = content.substr(kDigestSize);
  // A disk that was full leaves short files.
  if (content.substr(0, kDigestSize) != Digest(code)) return std::nullopt;
  return code;
}

void KernelDiskCache::Write(absl::string_view key, absl::string_view code) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  std::string temporary = (folder_ / "new-XXXXXX").string();
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return;
  close(descriptor);
  std::ofstream file(temporary, std::ios::binary);
  file << Digest(code) << code;
  file.close();
  if (file) fs::rename(temporary, FileOf(folder_, key), error);
  if (!file || error) fs::remove(temporary, error);
}

}  // namespace gpucall
