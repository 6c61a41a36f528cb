#include "server/service/stream_inputs.h"

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/checksum.h"

namespace gpucall {

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
  const uint64_t offset = chunk.header.offset();
  const int64_t size_bytes = chunk.data.size_bytes();
  if (tensor >= inputs_.size() || inputs_[tensor].buffer == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk: tensor is ", tensor, ", which is no streamed input"));
  }
  const Input& input = inputs_[tensor];
  const auto error = [&](auto... parts) {
    return absl::InvalidArgumentError(absl::StrCat("chunk of inputs[", tensor, "]: ", parts...));
  };
  if (offset != static_cast<uint64_t>(input.received_bytes)) {
    return error("offset is ", offset, ", the next is ", input.received_bytes);
  }
  if (size_bytes == 0 || size_bytes > kMaxChunkBytes) {
    return error("data has ", size_bytes, " bytes, allowed are 1 to ", kMaxChunkBytes);
  }
  const int64_t left = input.buffer->size_bytes() - input.received_bytes;
  if (size_bytes > left) {
    return error("data has ", size_bytes, " bytes at offset ", offset, ", ", left, " are left of ",
                 input.buffer->size_bytes());
  }
  if (chunk.header.has_crc32() && Crc32(chunk.data) != chunk.header.crc32()) {
    return absl::DataLossError(absl::StrCat("chunk of inputs[", tensor, "]: at offset ", offset,
                                            " the data's crc32 is ", Crc32(chunk.data), ", not ",
                                            chunk.header.crc32()));
  }
  return absl::OkStatus();
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
