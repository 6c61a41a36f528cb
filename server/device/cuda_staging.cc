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
  const auto is_packed = [](const Segment& segment) {
    return !segment.is_pinned || segment.size_bytes <= kMaxPackedBytes;
  };
  Packing packing;
  packing.reuses_pieces = size_bytes > kArenaBytes || !std::ranges::all_of(segments, is_packed);
  int64_t packed_from = 0;
  for (const Segment& segment : segments) {
    if (is_packed(segment)) continue;
    GPUCALL_RETURN_IF_ERROR(
        UploadRange(segments, packed_from, segment.offset, device, packing, stream));
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(device + segment.offset, segment.data,
                                                 static_cast<size_t>(segment.size_bytes),
                                                 cudaMemcpyHostToDevice, stream));
    packed_from = segment.offset + segment.size_bytes;
  }
  return UploadRange(segments, packed_from, size_bytes, device, packing, stream);
}

absl::Status Staging::UploadRange(absl::Span<const Segment> segments, int64_t begin, int64_t end,
                                  std::byte* device, Packing& packing, cudaStream_t stream) {
  const bool empty = std::ranges::none_of(segments, [begin, end](const Segment& s) {
    return s.offset < end && s.offset + s.size_bytes > begin;
  });
  if (empty) return absl::OkStatus();
  for (; begin < end; begin += kPieceBytes) {
    const int64_t piece = packing.piece++;
    const int64_t piece_end = std::min(end, begin + kPieceBytes);
    if (piece >= kPieceCount) GPUCALL_RETURN_IF_ERROR(WaitFor(PieceEvent(piece)));
    threads_->Run(static_cast<int>(PieceCount(piece_end - begin, kPartBytes)), [&](int part) {
      const int64_t from = begin + part * kPartBytes;
      Gather(segments, from, std::min(piece_end, from + kPartBytes), Piece(piece) + (from - begin));
    });
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(device + begin, Piece(piece),
                                                 static_cast<size_t>(piece_end - begin),
                                                 cudaMemcpyHostToDevice, stream));
    if (packing.reuses_pieces) {
      GPUCALL_RETURN_IF_CUDA_ERROR(cudaEventRecord(PieceEvent(piece), stream));
    }
  }
  return absl::OkStatus();
}

void Staging::Pack(absl::Span<const Segment> segments) const {
  Gather(segments, 0, kArenaBytes, arena());
}

absl::Status Staging::StartDownload(const std::byte* device, int64_t size_bytes,
                                    absl::Span<const Target> targets, cudaStream_t stream) {
  blocks_.clear();
  for (const Target& target : targets) {
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(target.data, device + target.offset,
                                                 static_cast<size_t>(target.size_bytes),
                                                 cudaMemcpyDeviceToHost, stream));
  }
  if (size_bytes > kMaxArenaDownload) return StartBlocks(device, size_bytes, targets, stream);
  if (size_bytes == 0) return absl::OkStatus();
  return CudaStatus(cudaMemcpyAsync(arena(), device, static_cast<size_t>(size_bytes),
                                    cudaMemcpyDeviceToHost, stream),
                    "cudaMemcpyAsync");
}

absl::Status Staging::StartBlocks(const std::byte* device, int64_t size_bytes,
                                  absl::Span<const Target> targets, cudaStream_t stream) {
  for (int64_t begin = 0; begin < size_bytes; begin += PinnedPool::kBlockBytes) {
    const int64_t count = std::min(size_bytes - begin, PinnedPool::kBlockBytes);
    const bool has_target = std::ranges::any_of(targets, [begin, count](const Target& t) {
      return t.offset <= begin && begin + count <= t.offset + t.size_bytes;
    });
    if (has_target) {
      blocks_.emplace_back();
      continue;
    }
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
  GPUCALL_RETURN_IF_ERROR(StartBlocks(device, size_bytes, {}, stream));
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream));
  return Downloaded(std::exchange(blocks_, {}));
}

}  // namespace gpucall
