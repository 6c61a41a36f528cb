// Buffers of the CPU device are host memory, so copies to them are plain and reads are none.
#ifndef GPUCALL_SERVER_DEVICE_CPU_COPIER_H_
#define GPUCALL_SERVER_DEVICE_CPU_COPIER_H_

#include <deque>
#include <memory>

#include "server/device/buffer.h"
#include "server/device/cpu_block_pool.h"

namespace gpucall {

// RESOURCE_EXHAUSTED: the system has no more memory.
absl::StatusOr<BufferPointer> MakeCpuBuffer(CpuBlockPool& pool, int64_t size_bytes);

class CpuCopier final : public Copier {
 public:
  absl::Status Write(const HostBytes& from, const BufferPointer& to, int64_t offset) override;
  absl::Status Finish() override { return absl::OkStatus(); }
  absl::Status StartRead(const BufferPointer& from, int64_t offset, int64_t size_bytes) override;
  absl::StatusOr<HostBytes> FinishRead() override;
  absl::Status Copy(const BufferPointer& from, const BufferPointer& to) override;

 private:
  std::deque<HostBytes> reads_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CPU_COPIER_H_
