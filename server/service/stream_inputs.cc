#include "server/service/stream_inputs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/checksum.h"
#include "server/store/held_buffer.h"

namespace gpucall {

absl::Status CheckChunk(absl::string_view what, const WireChunk& chunk, int64_t offset,
                        int64_t left_bytes) {
  const int64_t size_bytes = chunk.data.size_bytes();
  const auto error = [&](auto... parts) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", parts...));
  };
  if (chunk.header.offset() != static_cast<uint64_t>(offset)) {
    return error("offset is ", chunk.header.offset(), ", the next is ", offset);
  }
  if (size_bytes == 0 || size_bytes > kMaxChunkBytes) {
    return error("data has ", size_bytes, " bytes, allowed are 1 to ", kMaxChunkBytes);
  }
  if (size_bytes > left_bytes) {
    return error("data has ", size_bytes, " bytes at offset ", offset, ", ", left_bytes,
                 " are left of ", offset + left_bytes);
  }
  if (!chunk.header.has_crc32()) return absl::OkStatus();
  const uint32_t crc32 = Crc32(chunk.data);
  if (crc32 == chunk.header.crc32()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(what, ": at offset ", offset, " the data's crc32 is ",
                                          crc32, ", not ", chunk.header.crc32()));
}

absl::Status StreamInputs::Begin(Device& device, const StreamBlocks& blocks, DecodedStream stream) {
  device_ = &device;
  blocks_ = &blocks;
  GPUCALL_ASSIGN_OR_RETURN(copier_, device.MakeCopier());
  for (size_t i = 0; i < stream.call.types.size(); ++i) {
    Input& input = inputs_.emplace_back();
    input.type = stream.call.types[i];
    input.host = stream.call.inputs[i].host;
    input.resident = stream.call.inputs[i].resident;
    input.is_streamed = stream.is_streamed[i];
    if (input.is_streamed && !blocks.is_divided()) GPUCALL_RETURN_IF_ERROR(AddBuffer(input));
  }
  return absl::OkStatus();
}

absl::Status StreamInputs::AddBuffer(Input& input) {
  const int64_t block = input.first_block + static_cast<int64_t>(input.buffers.size());
  GPUCALL_ASSIGN_OR_RETURN(BufferPointer buffer,
                           device_->Allocate(blocks_->RangeOf(input.type, block).size_bytes));
  input.buffers.push_back(std::move(buffer));
  return absl::OkStatus();
}

absl::Status StreamInputs::Check(const WireChunk& chunk) const {
  const uint32_t tensor = chunk.header.tensor();
  if (tensor >= inputs_.size() || !inputs_[tensor].is_streamed) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk: tensor is ", tensor, ", which is no streamed input"));
  }
  const Input& input = inputs_[tensor];
  return CheckChunk(absl::StrCat("chunk of inputs[", tensor, "]"), chunk, input.received_bytes,
                    input.type.size_bytes() - input.received_bytes);
}

absl::Status StreamInputs::Write(const WireChunk& chunk) {
  GPUCALL_RETURN_IF_ERROR(Check(chunk));
  Input& input = inputs_[chunk.header.tensor()];
  for (int64_t written = 0; written < chunk.data.size_bytes();) {
    GPUCALL_ASSIGN_OR_RETURN(
        const int64_t count,
        WritePart(input, chunk.data.Range(written, chunk.data.size_bytes() - written)));
    written += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> StreamInputs::WritePart(Input& input, const HostBytes& data) {
  const int64_t block_bytes = blocks_->RangeOf(input.type, 0).size_bytes;
  const int64_t block = input.received_bytes / block_bytes;
  while (block >= input.first_block + static_cast<int64_t>(input.buffers.size())) {
    GPUCALL_RETURN_IF_ERROR(AddBuffer(input));
  }
  const StreamBlocks::Range range = blocks_->RangeOf(input.type, block);
  const int64_t count = std::min(data.size_bytes(), range.end() - input.received_bytes);
  GPUCALL_RETURN_IF_ERROR(copier_->Write(
      data.Range(0, count), input.buffers[static_cast<size_t>(block - input.first_block)],
      input.received_bytes - range.offset));
  input.received_bytes += count;
  return count;
}

bool StreamInputs::HasBlock(int64_t block) const {
  return std::ranges::all_of(inputs_, [&](const Input& input) {
    return !input.is_streamed || input.received_bytes >= blocks_->RangeOf(input.type, block).end();
  });
}

absl::StatusOr<std::vector<Storage>> StreamInputs::TakeBlock(int64_t block) {
  GPUCALL_RETURN_IF_ERROR(copier_->Finish());
  std::vector<Storage> taken;
  for (Input& input : inputs_) {
    Storage& storage = taken.emplace_back();
    if (!input.is_streamed) {
      const StreamBlocks::Range range = blocks_->RangeOf(input.type, block);
      if (input.resident == nullptr) {
        storage.host = input.host.Range(range.offset, range.size_bytes);
      } else {
        storage.resident = PartOf(input.resident, range.offset, range.size_bytes);
      }
      continue;
    }
    storage.resident = input.buffers.front();
    if (IsShared(input)) continue;
    input.buffers.pop_front();
    ++input.first_block;
  }
  return taken;
}

absl::Status StreamInputs::CheckComplete() const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (!input.is_streamed || input.received_bytes == input.type.size_bytes()) continue;
    return absl::InvalidArgumentError(absl::StrCat("inputs[", i, "]: the stream ended after ",
                                                   input.received_bytes, " of ",
                                                   input.type.size_bytes(), " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace gpucall
