#include "server/device/cpu_copier.h"

#include <cstring>
#include <utility>

#include "server/base/status_macros.h"

namespace gpucall {
namespace {

class CpuBuffer final : public DeviceBuffer {
 public:
  CpuBuffer(std::shared_ptr<std::byte> memory, int64_t size_bytes)
      : DeviceBuffer(memory.get(), size_bytes), memory_(std::move(memory)) {}

 private:
  const std::shared_ptr<std::byte> memory_;
};

}  // namespace

absl::StatusOr<BufferPointer> MakeCpuBuffer(CpuBlockPool& pool, int64_t size_bytes) {
  GPUCALL_ASSIGN_OR_RETURN(std::shared_ptr<std::byte> memory, pool.Take(size_bytes));
  return std::make_shared<CpuBuffer>(std::move(memory), size_bytes);
}

absl::Status CpuCopier::Write(const HostBytes& from, const BufferPointer& to, int64_t offset) {
  from.CopyTo(to->data() + offset);
  return absl::OkStatus();
}

absl::Status CpuCopier::StartRead(const BufferPointer& from, int64_t offset, int64_t size_bytes) {
  reads_.emplace_back(from->data() + offset, size_bytes, from);
  return absl::OkStatus();
}

absl::StatusOr<HostBytes> CpuCopier::FinishRead() {
  HostBytes bytes = std::move(reads_.front());
  reads_.pop_front();
  return bytes;
}

absl::Status CpuCopier::Copy(const BufferPointer& from, const BufferPointer& to) {
  if (from->size_bytes() == 0) return absl::OkStatus();
  std::memcpy(to->data(), from->data(), static_cast<size_t>(from->size_bytes()));
  return absl::OkStatus();
}

}  // namespace gpucall
