#include "server/device/cuda_staging.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/device/cuda_status.h"

namespace gpucall {
namespace {

constexpr absl::Duration kSpin = absl::Microseconds(100);
constexpr int64_t kPartBytes = int64_t{1} << 20;  // of a packing that threads share

int64_t PieceCount(int64_t size_bytes, int64_t piece_bytes) {
  return (size_bytes + piece_bytes - 1) / piece_bytes;
}

// Copies what the segments have for [begin, end) to `out`.
void Gather(absl::Span<const Staging::Segment> segments, int64_t begin, int64_t end,
            std::byte* out) {
  auto segment = std::ranges::partition_point(
      segments, [begin](const Staging::Segment& s) { return s.offset + s.size_bytes <= begin; });
  for (; segment != segments.end() && segment->offset < end; ++segment) {
    const int64_t from = std::max(begin, segment->offset);
    const int64_t to = std::min(end, segment->offset + segment->size_bytes);
    if (from >= to) continue;
    std::memcpy(out + (from - begin),
                static_cast<const std::byte*>(segment->data) + (from - segment->offset),
                static_cast<size_t>(to - from));
  }
}

}  // namespace

absl::Status WaitFor(cudaEvent_t event) {
  const absl::Time sleep_at = absl::Now() + kSpin;
  do {
    const cudaError_t state = cudaEventQuery(event);
    if (state != cudaErrorNotReady) return CudaStatus(state, "cudaEventQuery");
  } while (absl::Now() < sleep_at);
  return CudaStatus(cudaEventSynchronize(event), "cudaEventSynchronize");
}

HostBytes Downloaded::Range(int64_t offset, int64_t size_bytes) const {
  if (blocks_.empty()) return HostBytes(data_ + offset, size_bytes);
  HostBytes bytes;
  while (size_bytes > 0) {
    const auto& block = blocks_[static_cast<size_t>(offset / PinnedPool::kBlockBytes)];
    const int64_t begin = offset % PinnedPool::kBlockBytes;
    const int64_t count = std::min(size_bytes, PinnedPool::kBlockBytes - begin);
    bytes.Add({block.get() + begin, count, block});
    offset += count;
    size_bytes -= count;
  }
  return bytes;
}

absl::StatusOr<Staging> Staging::Make(std::shared_ptr<PinnedPool> blocks, CopyThreads& threads) {
  Staging staging;
  staging.pool_ = std::move(blocks);
  staging.threads_ = &threads;
  void* arena = nullptr;
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaHostAlloc(&arena, kArenaBytes, cudaHostAllocDefault));
  staging.arena_.reset(arena);
  for (int64_t i = 0; i < kPieceCount; ++i) {
    cudaEvent_t event = nullptr;
    GPUCALL_RETURN_IF_CUDA_ERROR(
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
    staging.piece_events_.emplace_back(event);
  }
  return staging;
}

absl::Status Staging::Upload(absl::Span<const Segment> segments, int64_t size_bytes,
                             std::byte* device, cudaStream_t stream) {
  const bool reuses_pieces = size_bytes > kArenaBytes;
  for (int64_t piece = 0; piece < PieceCount(size_bytes, kPieceBytes); ++piece) {
    const int64_t begin = piece * kPieceBytes;
    const int64_t end = std::min(size_bytes, begin + kPieceBytes);
    if (piece >= kPieceCount) GPUCALL_RETURN_IF_ERROR(WaitFor(PieceEvent(piece)));
    threads_->Run(static_cast<int>(PieceCount(end - begin, kPartBytes)), [&](int part) {
      const int64_t from = begin + part * kPartBytes;
      Gather(segments, from, std::min(end, from + kPartBytes), Piece(piece) + (from - begin));
    });
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(device + begin, Piece(piece),
                                                 static_cast<size_t>(end - begin),
                                                 cudaMemcpyHostToDevice, stream));
    if (reuses_pieces) GPUCALL_RETURN_IF_CUDA_ERROR(cudaEventRecord(PieceEvent(piece), stream));
  }
  return absl::OkStatus();
}

void Staging::Pack(absl::Span<const Segment> segments) const {
  Gather(segments, 0, kArenaBytes, arena());
}

absl::Status Staging::StartDownload(const std::byte* device, int64_t size_bytes,
                                    cudaStream_t stream) {
  blocks_.clear();
  if (size_bytes > kMaxArenaDownload) return StartBlocks(device, size_bytes, stream);
  if (size_bytes == 0) return absl::OkStatus();
  return CudaStatus(cudaMemcpyAsync(arena(), device, static_cast<size_t>(size_bytes),
                                    cudaMemcpyDeviceToHost, stream),
                    "cudaMemcpyAsync");
}

absl::Status Staging::StartBlocks(const std::byte* device, int64_t size_bytes,
                                  cudaStream_t stream) {
  for (int64_t begin = 0; begin < size_bytes; begin += PinnedPool::kBlockBytes) {
    const int64_t count = std::min(size_bytes - begin, PinnedPool::kBlockBytes);
    std::shared_ptr<std::byte> block = pool_->Take();
    if (block == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("host memory: ", size_bytes, " bytes are needed for results"));
    }
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(
        block.get(), device + begin, static_cast<size_t>(count), cudaMemcpyDeviceToHost, stream));
    blocks_.push_back(std::move(block));
  }
  return absl::OkStatus();
}

absl::StatusOr<Downloaded> Staging::FinishDownload(cudaEvent_t done) {
  GPUCALL_RETURN_IF_ERROR(WaitFor(done));
  if (blocks_.empty()) return Downloaded(arena());
  return Downloaded(std::exchange(blocks_, {}));
}

absl::StatusOr<Downloaded> Staging::DownloadToBlocks(const std::byte* device, int64_t size_bytes,
                                                     cudaStream_t stream) {
  blocks_.clear();
  GPUCALL_RETURN_IF_ERROR(StartBlocks(device, size_bytes, stream));
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
  return Downloaded(std::exchange(blocks_, {}));
}

}  // namespace gpucall
