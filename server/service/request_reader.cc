#include "server/service/request_reader.h"

#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "server/service/wire_writer.h"

namespace gpucall {
namespace {

using google::protobuf::internal::WireFormatLite;

// A position in bytes that lie in several slices, and the end of the message being read.
class Cursor {
 public:
  explicit Cursor(absl::Span<const grpc::Slice> slices) : slices_(slices) {
    for (const grpc::Slice& slice : slices) remaining_ += slice.size();
  }

  size_t remaining() const { return remaining_; }

  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t byte = 0;
      if (!Walk(1, [&byte](const uint8_t* data, size_t) { byte = *data; })) return false;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  // Calls visit(data, size) for each contiguous piece of the next `count` bytes.
  template <typename Visit>
  bool Walk(uint64_t count, Visit visit) {
    if (count > remaining_) return false;
    remaining_ -= count;
    while (count > 0) {
      const grpc::Slice& slice = slices_.front();
      const size_t here = std::min<uint64_t>(count, slice.size() - offset_);
      if (here > 0) visit(slice.begin() + offset_, here);
      offset_ += here;
      count -= here;
      if (offset_ == slice.size() && slices_.size() > 1) {
        slices_.remove_prefix(1);
        offset_ = 0;
      }
    }
    return true;
  }

 private:
  absl::Span<const grpc::Slice> slices_;
  size_t offset_ = 0;  // in the first slice
  size_t remaining_ = 0;
};

// Appends the field whose tag has just been read to `bytes`, as it is.
bool CopyField(uint64_t tag, Cursor& cursor, std::string& bytes) {
  AppendVarint(tag, bytes);
  uint64_t count = 0;
  switch (tag & 7) {
    case WireFormatLite::WIRETYPE_VARINT:
      if (!cursor.ReadVarint(count)) return false;
      AppendVarint(count, bytes);
      return true;
    case WireFormatLite::WIRETYPE_FIXED64:
      count = 8;
      break;
    case WireFormatLite::WIRETYPE_FIXED32:
      count = 4;
      break;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
      if (!cursor.ReadVarint(count)) return false;
      AppendVarint(count, bytes);
      break;
    default:
      return false;  // groups are not used
  }
  return cursor.Walk(count, [&bytes](const uint8_t* data, size_t size) {
    bytes.append(reinterpret_cast<const char*>(data), size);
  });
}

// The position where a message of `size` bytes that begins here ends; false where it is too long.
bool FindEnd(uint64_t size, const Cursor& cursor, size_t& end) {
  if (size > cursor.remaining()) return false;
  end = cursor.remaining() - size;
  return true;
}

// Reads up to `end` a message whose field kDataFieldNumber is bytes, which are not copied.
template <typename Message>
bool ReadWithData(size_t end, Cursor& cursor, WithData<Message>& message) {
  std::string header;
  while (cursor.remaining() > end) {
    uint64_t tag = 0, count = 0;
    if (!cursor.ReadVarint(tag)) return false;
    if (tag != WireFormatLite::MakeTag(Message::kDataFieldNumber,
                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!CopyField(tag, cursor, header)) return false;
      continue;
    }
    message.has_data = true;
    message.data = {};  // of a field given twice the last counts
    if (!cursor.ReadVarint(count)) return false;
    const auto add_piece = [&message](const uint8_t* data, size_t size) {
      message.data.Add({reinterpret_cast<const std::byte*>(data), static_cast<int64_t>(size)});
    };
    if (!cursor.Walk(count, add_piece)) return false;
  }
  return cursor.remaining() == end && message.header.ParseFromString(header);
}

bool Split(size_t end, Cursor& cursor, absl::Span<const int> tensor_fields, SplitRequest& split) {
  while (cursor.remaining() > end) {
    uint64_t tag = 0, size = 0;
    if (!cursor.ReadVarint(tag)) return false;
    const bool message = (tag & 7) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!message || !absl::c_linear_search(tensor_fields, static_cast<int>(tag >> 3))) {
      if (!CopyField(tag, cursor, split.rest)) return false;
      continue;
    }
    WireTensor& tensor = split.tensors.emplace_back();
    tensor.field = static_cast<int>(tag >> 3);
    size_t tensor_end = 0;
    if (!cursor.ReadVarint(size) || !FindEnd(size, cursor, tensor_end) || tensor_end < end ||
        !ReadWithData(tensor_end, cursor, tensor)) {
      return false;
    }
  }
  return cursor.remaining() == end;
}

}  // namespace

bool SplitTensors(absl::Span<const grpc::Slice> slices, absl::Span<const int> tensor_fields,
                  SplitRequest& split) {
  Cursor cursor(slices);
  return Split(0, cursor, tensor_fields, split);
}

bool ReadStreamPart(absl::Span<const grpc::Slice> slices, absl::Span<const int> tensor_fields,
                    StreamPart& part) {
  Cursor cursor(slices);
  while (cursor.remaining() > 0) {
    uint64_t tag = 0, size = 0;
    size_t end = 0;
    if (!cursor.ReadVarint(tag)) return false;
    std::string unknown;
    const uint64_t field = tag >> 3;
    const bool message = (tag & 7) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!message || (field != v1::RunStreamRequest::kStartFieldNumber &&
                     field != v1::RunStreamRequest::kChunkFieldNumber)) {
      if (!CopyField(tag, cursor, unknown)) return false;
      continue;
    }
    if (!cursor.ReadVarint(size) || !FindEnd(size, cursor, end)) return false;
    if (field == v1::RunStreamRequest::kStartFieldNumber) {
      if (!Split(end, cursor, tensor_fields, part.start.emplace())) return false;
    } else if (!ReadWithData(end, cursor, part.chunk.emplace())) {
      return false;
    }
  }
  return true;
}

}  // namespace gpucall
