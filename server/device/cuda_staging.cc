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
constexpr int64_t kMaxKeptBytes = int64_t{1} << 30;  // of memory for large downloads

int64_t PieceCount(int64_t size_bytes, int64_t piece_bytes) {
  return (size_bytes + piece_bytes - 1) / piece_bytes;
}

// Copies what the segments from `first` on have for [begin, end) to `out`, and returns the first
// segment that goes on after it.
size_t Gather(absl::Span<const Staging::Segment> segments, size_t first, int64_t begin, int64_t end,
              std::byte* out) {
  for (; first < segments.size(); ++first) {
    const Staging::Segment& segment = segments[first];
    const int64_t from = std::max(begin, segment.offset);
    const int64_t to = std::min(end, segment.offset + segment.size_bytes);
    if (from < to) {
      std::memcpy(out + (from - begin),
                  static_cast<const std::byte*>(segment.data) + (from - segment.offset),
                  static_cast<size_t>(to - from));
    }
    if (segment.offset + segment.size_bytes > end) break;
  }
  return first;
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

absl::StatusOr<Staging> Staging::Make() {
  Staging staging;
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
  size_t segment = 0;
  for (int64_t piece = 0; piece < PieceCount(size_bytes, kPieceBytes); ++piece) {
    const int64_t begin = piece * kPieceBytes;
    const int64_t end = std::min(size_bytes, begin + kPieceBytes);
    if (piece >= kPieceCount) GPUCALL_RETURN_IF_ERROR(WaitFor(PieceEvent(piece)));
    segment = Gather(segments, segment, begin, end, Piece(piece));
    GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(device + begin, Piece(piece),
                                                 static_cast<size_t>(end - begin),
                                                 cudaMemcpyHostToDevice, stream));
    if (reuses_pieces) GPUCALL_RETURN_IF_CUDA_ERROR(cudaEventRecord(PieceEvent(piece), stream));
  }
  return absl::OkStatus();
}

void Staging::Pack(absl::Span<const Segment> segments) const {
  Gather(segments, 0, 0, kArenaBytes, arena());
}

absl::Status Staging::StartDownload(const std::byte* device, int64_t size_bytes,
                                    cudaStream_t stream) {
  device_ = device;
  size_bytes_ = size_bytes;
  stream_ = stream;
  if (size_bytes <= kArenaBytes) {
    if (large_bytes_ > kMaxKeptBytes) {
      large_.reset();
      large_bytes_ = 0;
    }
    if (size_bytes == 0) return absl::OkStatus();
    return CudaStatus(cudaMemcpyAsync(arena_.get(), device, static_cast<size_t>(size_bytes),
                                      cudaMemcpyDeviceToHost, stream),
                      "cudaMemcpyAsync");
  }
  if (large_bytes_ < size_bytes) {
    large_.reset(static_cast<std::byte*>(std::malloc(static_cast<size_t>(size_bytes))));
    large_bytes_ = large_ == nullptr ? 0 : size_bytes;
    if (large_ == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("host memory: ", size_bytes, " bytes are needed for results"));
    }
  }
  for (int64_t piece = 0; piece < kPieceCount; ++piece) {
    GPUCALL_RETURN_IF_ERROR(StartPieceDownload(piece));
  }
  return absl::OkStatus();
}

absl::Status Staging::StartPieceDownload(int64_t index) {
  const int64_t begin = index * kPieceBytes;
  const int64_t end = std::min(size_bytes_, begin + kPieceBytes);
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(Piece(index), device_ + begin,
                                               static_cast<size_t>(end - begin),
                                               cudaMemcpyDeviceToHost, stream_));
  return CudaStatus(cudaEventRecord(PieceEvent(index), stream_), "cudaEventRecord");
}

absl::StatusOr<const std::byte*> Staging::FinishDownload(cudaEvent_t done) {
  if (size_bytes_ <= kArenaBytes) {
    GPUCALL_RETURN_IF_ERROR(WaitFor(done));
    return static_cast<const std::byte*>(arena_.get());
  }
  const int64_t count = PieceCount(size_bytes_, kPieceBytes);
  for (int64_t piece = 0; piece < count; ++piece) {
    GPUCALL_RETURN_IF_ERROR(WaitFor(PieceEvent(piece)));
    const int64_t begin = piece * kPieceBytes;
    const int64_t end = std::min(size_bytes_, begin + kPieceBytes);
    std::memcpy(large_.get() + begin, Piece(piece), static_cast<size_t>(end - begin));
    if (piece + kPieceCount < count)
      GPUCALL_RETURN_IF_ERROR(StartPieceDownload(piece + kPieceCount));
  }
  GPUCALL_RETURN_IF_CUDA_ERROR(cudaEventRecord(done, stream_));
  GPUCALL_RETURN_IF_ERROR(WaitFor(done));
  return large_.get();
}

}  // namespace gpucall
