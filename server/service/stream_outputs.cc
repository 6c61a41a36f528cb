#include "server/service/stream_outputs.h"

#include <algorithm>
#include <utility>

#include "server/base/status_macros.h"

namespace gpucall {

absl::Status StreamOutputs::Begin(Device& device, std::vector<BufferPointer> buffers,
                                  std::vector<int64_t> offsets) {
  buffers_ = std::move(buffers);
  offsets_ = std::move(offsets);
  next_read_ = next_chunk_ = {};
  if (copier_ == nullptr) {
    GPUCALL_ASSIGN_OR_RETURN(copier_, device.MakeCopier());
  }
  return ReadAhead();
}

int64_t StreamOutputs::ChunkBytes(Position& position) const {
  const auto is_read = [&](const BufferPointer& buffer) {
    return buffer == nullptr || position.offset == buffer->size_bytes();
  };
  while (position.tensor < buffers_.size() && is_read(buffers_[position.tensor])) {
    position = {position.tensor + 1, 0};
  }
  if (position.tensor >= buffers_.size()) return 0;
  return std::min(Copier::kBlockBytes, buffers_[position.tensor]->size_bytes() - position.offset);
}

absl::Status StreamOutputs::ReadAhead() {
  for (; reads_ < Copier::kMaxReads; ++reads_) {
    const int64_t size_bytes = ChunkBytes(next_read_);
    if (size_bytes == 0) break;
    GPUCALL_RETURN_IF_ERROR(
        copier_->StartRead(buffers_[next_read_.tensor], next_read_.offset, size_bytes));
    next_read_.offset += size_bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<StreamOutputs::Chunk>> StreamOutputs::Next() {
  const int64_t size_bytes = ChunkBytes(next_chunk_);
  if (size_bytes == 0) {
    buffers_.clear();
    return std::nullopt;
  }
  GPUCALL_ASSIGN_OR_RETURN(HostBytes data, copier_->FinishRead());
  --reads_;
  Chunk chunk = {next_chunk_.tensor, offsets_[next_chunk_.tensor] + next_chunk_.offset,
                 std::move(data)};
  next_chunk_.offset += size_bytes;
  GPUCALL_RETURN_IF_ERROR(ReadAhead());
  return chunk;
}

}  // namespace gpucall
