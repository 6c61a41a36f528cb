// The checksum of chunks.
#ifndef GPUCALL_CLIENT_CPP_CHECKSUM_H_
#define GPUCALL_CLIENT_CPP_CHECKSUM_H_

#include <zlib.h>

#include <cstdint>

#include "absl/strings/string_view.h"

namespace gpucall {
inline namespace client {

// CRC-32 as zlib's, of the bytes that had `crc` and these after them.
inline uint32_t Crc32(absl::string_view bytes, uint32_t crc = 0) {
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_CHECKSUM_H_
