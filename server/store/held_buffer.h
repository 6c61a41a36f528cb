// Device memory that counts against a tenant's quota for as long as anything uses it, and parts of
// it.
#ifndef GPUCALL_SERVER_STORE_HELD_BUFFER_H_
#define GPUCALL_SERVER_STORE_HELD_BUFFER_H_

#include <cstdint>

#include "server/device/buffer.h"
#include "server/store/quota.h"

namespace gpucall {

// `buffer`, charged: `charge` is given back after its memory. One that is charged already (an
// output that is an input) stays as it is, and `charge` is given back at once.
BufferPointer Hold(BufferPointer buffer, Charge charge);

// Whether it comes from Hold or PartOf; null does not.
bool IsHeld(const BufferPointer& buffer);

// [offset, offset + size_bytes) of `whole`, which it keeps. REQUIRES: within it. What reads and
// writes the part with more than copies needs an address that is a buffer's: a multiple of
// kPartAlignment.
BufferPointer PartOf(BufferPointer whole, int64_t offset, int64_t size_bytes);
inline constexpr int64_t kPartAlignment = 256;

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_HELD_BUFFER_H_
