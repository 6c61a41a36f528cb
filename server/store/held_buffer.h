// Device memory that counts against a tenant's quota for as long as anything uses it.
#ifndef GPUCALL_SERVER_STORE_HELD_BUFFER_H_
#define GPUCALL_SERVER_STORE_HELD_BUFFER_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "server/device/buffer.h"
#include "server/store/quota.h"

namespace gpucall {

// Part of another buffer, which it keeps.
class HeldBuffer final : public DeviceBuffer {
 public:
  // REQUIRES: the part lies within `whole`.
  HeldBuffer(BufferPointer whole, int64_t offset, int64_t size_bytes, Charge charge)
      : DeviceBuffer(size_bytes == 0 ? nullptr : whole->data() + offset, size_bytes),
        charge_(std::move(charge)),
        whole_(std::move(whole)) {}

 private:
  const Charge charge_;
  const BufferPointer whole_;  // freed before the charge is given back
};

// `buffer`, charged. One that is charged already (an output that is an input) stays as it is, and
// `charge` is given back.
inline BufferPointer Hold(BufferPointer buffer, Charge charge) {
  if (dynamic_cast<const HeldBuffer*>(buffer.get()) != nullptr) return buffer;
  const int64_t size_bytes = buffer->size_bytes();
  return std::make_shared<HeldBuffer>(std::move(buffer), 0, size_bytes, std::move(charge));
}

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_HELD_BUFFER_H_
