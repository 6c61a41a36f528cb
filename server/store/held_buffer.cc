#include "server/store/held_buffer.h"

#include <memory>
#include <utility>

namespace gpucall {
namespace {

// All of another buffer or part of it.
class HeldBuffer final : public DeviceBuffer {
 public:
  HeldBuffer(BufferPointer whole, int64_t offset, int64_t size_bytes, Charge charge)
      : DeviceBuffer(size_bytes == 0 ? nullptr : whole->data() + offset, size_bytes),
        charge_(std::move(charge)),
        whole_(std::move(whole)) {}

  const BufferPointer& whole() const { return whole_; }
  bool is_part() const { return size_bytes() != whole_->size_bytes(); }

 private:
  const Charge charge_;
  const BufferPointer whole_;  // destroyed before the charge
};

}  // namespace

bool IsHeld(const BufferPointer& buffer) {
  return dynamic_cast<const HeldBuffer*>(buffer.get()) != nullptr;
}

BufferPointer Hold(BufferPointer buffer, Charge charge) {
  if (IsHeld(buffer)) return buffer;
  const int64_t size_bytes = buffer->size_bytes();
  return std::make_shared<HeldBuffer>(std::move(buffer), 0, size_bytes, std::move(charge));
}

BufferPointer PartOf(BufferPointer whole, int64_t offset, int64_t size_bytes) {
  if (offset == 0 && size_bytes == whole->size_bytes()) return whole;
  // Of a part's own whole, so that parts of parts do not make chains.
  if (const auto* held = dynamic_cast<const HeldBuffer*>(whole.get());
      held != nullptr && held->is_part() && size_bytes > 0) {
    offset += whole->data() - held->whole()->data();
    whole = BufferPointer(held->whole());
  }
  return std::make_shared<HeldBuffer>(std::move(whole), offset, size_bytes, Charge());
}

}  // namespace gpucall
