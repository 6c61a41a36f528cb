#include "server/device/cuda_copier.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "server/device/cuda_staging.h"
#include "server/device/cuda_status.h"

namespace gpucall {

static_assert(Copier::kBlockBytes == PinnedPool::kBlockBytes);

absl::StatusOr<std::unique_ptr<Copier>> CudaCopier::Make(int ordinal,
                                                         std::shared_ptr<PinnedPool> blocks) {
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal));
  auto copier = std::unique_ptr<CudaCopier>(new CudaCopier(ordinal, std::move(blocks)));
  for (auto* slots : {&copier->writes_, &copier->reads_}) {
    for (Slot& slot : *slots) {
      cudaEvent_t event = nullptr;
      GPUCALL_RETURN_IF_CUDA_ERROR(
          cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
      slot.done.reset(event);
    }
  }
  cudaStream_t stream = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  copier->stream_.reset(stream);
  return copier;
}

CudaCopier::~CudaCopier() {
  if (stream_ == nullptr) return;
  static_cast<void>(cudaSetDevice(ordinal_));
  static_cast<void>(cudaStreamSynchronize(stream_.get()));  // what is in flight uses the blocks
}

absl::Status CudaCopier::TakeBlock(Slot& slot) {
  if (slot.block == nullptr) slot.block = blocks_->Take();
  if (slot.block == nullptr) return absl::ResourceExhaustedError("host memory: there is none left");
  return absl::OkStatus();
}

absl::Status CudaCopier::Write(const HostBytes& from, const BufferPointer& to, int64_t offset) {
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal_));
  auto piece = from.pieces().begin();
  int64_t piece_used = 0;
  for (int64_t left = from.size_bytes(); left > 0;) {
    Slot& slot = writes_[next_write_++ % writes_.size()];
    GPUCALL_RETURN_IF_ERROR(WaitFor(slot.done.get()));
    GPUCALL_RETURN_IF_ERROR(TakeBlock(slot));
    const int64_t size_bytes = std::min(left, kBlockBytes);
    for (int64_t filled = 0; filled < size_bytes;) {
      const int64_t count = std::min(size_bytes - filled, piece->size_bytes - piece_used);
      std::memcpy(slot.block.get() + filled, piece->data + piece_used, static_cast<size_t>(count));
      filled += count;
      piece_used += count;
      if (piece_used == piece->size_bytes) {
        ++piece;
        piece_used = 0;
      }
    }
    slot.buffer = to;
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(to->data() + offset, slot.block.get(),
                                                 static_cast<size_t>(size_bytes),
                                                 cudaMemcpyHostToDevice, stream_.get()));
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaEventRecord(slot.done.get(), stream_.get()));
    offset += size_bytes;
    left -= size_bytes;
  }
  return absl::OkStatus();
}

absl::Status CudaCopier::Finish() {
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal_));
  for (Slot& slot : writes_) {
    GPUCALL_RETURN_IF_ERROR(WaitFor(slot.done.get()));
    slot.buffer.reset();
    slot.block.reset();
  }
  return absl::OkStatus();
}

absl::Status CudaCopier::StartRead(const BufferPointer& from, int64_t offset, int64_t size_bytes) {
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal_));
  Slot& slot = reads_[next_read_ % reads_.size()];
  GPUCALL_RETURN_IF_ERROR(TakeBlock(slot));
  slot.buffer = from;
  slot.size_bytes = size_bytes;
  if (size_bytes > 0) {
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(slot.block.get(), from->data() + offset,
                                                 static_cast<size_t>(size_bytes),
                                                 cudaMemcpyDeviceToHost, stream_.get()));
  }
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaEventRecord(slot.done.get(), stream_.get()));
  ++next_read_;
  return absl::OkStatus();
}

absl::StatusOr<HostBytes> CudaCopier::FinishRead() {
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal_));
  Slot& slot = reads_[first_read_++ % reads_.size()];
  GPUCALL_RETURN_IF_ERROR(WaitFor(slot.done.get()));
  slot.buffer.reset();
  const std::byte* const data = slot.block.get();
  return HostBytes(data, slot.size_bytes, std::move(slot.block));
}

absl::Status CudaCopier::Copy(const BufferPointer& from, const BufferPointer& to) {
  if (from->size_bytes() == 0) return absl::OkStatus();
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal_));
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(to->data(), from->data(),
                                               static_cast<size_t>(from->size_bytes()),
                                               cudaMemcpyDeviceToDevice, stream_.get()));
  return CudaStatus(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
}

}  // namespace gpucall
