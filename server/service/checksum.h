// The checksum of chunks.
#ifndef GPUCALL_SERVER_SERVICE_CHECKSUM_H_
#define GPUCALL_SERVER_SERVICE_CHECKSUM_H_

#include <zlib.h>

#include <cstdint>

#include "server/base/host_bytes.h"

namespace gpucall {

// CRC-32 as zlib's.
inline uint32_t Crc32(const HostBytes& bytes) {
  uLong crc = crc32_z(0, nullptr, 0);
  for (const HostBytes::Piece& piece : bytes.pieces()) {
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data),
                  static_cast<size_t>(piece.size_bytes));
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_CHECKSUM_H_
