#include "server/service/stream_inputs.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/checksum.h"

namespace gpucall {

absl::Status CheckChunk(absl::string_view what, const WireChunk& chunk, int64_t next,
                        int64_t left_bytes) {
  const uint64_t offset = chunk.header.offset();
  const int64_t size_bytes = chunk.data.size_bytes();
  if (offset != static_cast<uint64_t>(next)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": offset is ", offset, ", the next is ", next));
  }
  if (size_bytes == 0 || size_bytes > kMaxChunkBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": data has ", size_bytes, " bytes, allowed are 1 to ", kMaxChunkBytes));
  }
  if (size_bytes > left_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": data has ", size_bytes,
                                                   " bytes at offset ", offset, ", ", left_bytes,
                                                   " are left of ", next + left_bytes));
  }
  if (!chunk.header.has_crc32()) return absl::OkStatus();
  const uint32_t crc32 = Crc32(chunk.data);
  if (crc32 == chunk.header.crc32()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(what, ": at offset ", offset, " the data's crc32 is ",
                                          crc32, ", not ", chunk.header.crc32()));
}

absl::Status StreamInputs::Begin(Device& device, const std::vector<TensorType>& types,
                                 const std::vector<bool>& is_streamed,
                                 std::vector<Storage>& inputs) {
  inputs_.resize(types.size());
  GPUCALL_ASSIGN_OR_RETURN(copier_, device.MakeCopier());
  for (size_t i = 0; i < types.size(); ++i) {
    if (!is_streamed[i]) continue;
    GPUCALL_ASSIGN_OR_RETURN(inputs_[i].buffer, device.Allocate(types[i].size_bytes()));
    inputs[i].resident = inputs_[i].buffer;
  }
  return absl::OkStatus();
}

absl::Status StreamInputs::Check(const WireChunk& chunk) const {
  const uint32_t tensor = chunk.header.tensor();
  if (tensor >= inputs_.size() || inputs_[tensor].buffer == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk: tensor is ", tensor, ", which is no streamed input"));
  }
  const Input& input = inputs_[tensor];
  return CheckChunk(absl::StrCat("chunk of inputs[", tensor, "]"), chunk, input.received_bytes,
                    input.buffer->size_bytes() - input.received_bytes);
}

absl::Status StreamInputs::Write(const WireChunk& chunk) {
  GPUCALL_RETURN_IF_ERROR(Check(chunk));
  Input& input = inputs_[chunk.header.tensor()];
  GPUCALL_RETURN_IF_ERROR(copier_->Write(chunk.data, input.buffer, input.received_bytes));
  input.received_bytes += chunk.data.size_bytes();
  return absl::OkStatus();
}

absl::Status StreamInputs::Finish() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (input.buffer == nullptr || input.received_bytes == input.buffer->size_bytes()) continue;
    return absl::InvalidArgumentError(absl::StrCat("inputs[", i, "]: the stream ended after ",
                                                   input.received_bytes, " of ",
                                                   input.buffer->size_bytes(), " bytes"));
  }
  return copier_->Finish();
}

}  // namespace gpucall
