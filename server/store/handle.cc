#include "server/store/handle.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace gpucall {

Handle Handle::Random() {
  Handle handle;
  ssize_t count = 0;
  do {
    count = getrandom(handle.bytes_.data(), kBytes, 0);
  } while (count < 0 && errno == EINTR);
  // Up to 256 bytes come whole, or the kernel has no such call: nothing could be kept safe then.
  if (count != static_cast<ssize_t>(kBytes)) std::abort();
  return handle;
}

absl::StatusOr<Handle> Handle::FromBytes(absl::string_view what, absl::string_view bytes) {
  if (bytes.size() != kBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": has ", bytes.size(), " bytes, a handle has ", kBytes));
  }
  Handle handle;
  std::copy(bytes.begin(), bytes.end(), handle.bytes_.begin());
  return handle;
}

std::string Handle::bytes() const { return std::string(bytes_.begin(), bytes_.end()); }

std::string Handle::ToString() const { return absl::BytesToHexString(bytes()); }

}  // namespace gpucall
