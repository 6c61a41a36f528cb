// Copies between host memory and buffers of a GPU, beside the lanes.
#ifndef GPUCALL_SERVER_DEVICE_CUDA_COPIER_H_
#define GPUCALL_SERVER_DEVICE_CUDA_COPIER_H_

#include <array>
#include <deque>
#include <memory>

#include "server/device/buffer.h"
#include "server/device/cuda_handles.h"
#include "server/device/cuda_pinned_pool.h"

namespace gpucall {

// A stream and a ring of page-locked blocks: while one is copied the next is filled.
class CudaCopier final : public Copier {
 public:
  static absl::StatusOr<std::unique_ptr<Copier>> Make(int ordinal,
                                                      std::shared_ptr<PinnedPool> blocks);
  ~CudaCopier() override;

  absl::Status Write(const HostBytes& from, const BufferPointer& to, int64_t offset) override;
  absl::Status Finish() override;
  absl::Status StartRead(const BufferPointer& from, int64_t offset, int64_t size_bytes) override;
  absl::StatusOr<HostBytes> FinishRead() override;
  absl::Status Copy(const BufferPointer& from, const BufferPointer& to) override;

 private:
  // A block and what passes through it.
  struct Slot {
    std::shared_ptr<std::byte> block;
    BufferPointer buffer;
    CudaEvent done;
    int64_t size_bytes = 0;
  };

  CudaCopier(int ordinal, std::shared_ptr<PinnedPool> blocks)
      : ordinal_(ordinal), blocks_(std::move(blocks)) {}
  absl::Status TakeBlock(Slot& slot);

  const int ordinal_;
  const std::shared_ptr<PinnedPool> blocks_;
  CudaStream stream_;
  std::array<Slot, kMaxReads> writes_, reads_;
  uint64_t next_write_ = 0, next_read_ = 0, first_read_ = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_CUDA_COPIER_H_
