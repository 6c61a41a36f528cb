#include "server/service/request_reader.h"

#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdint>

#include "absl/algorithm/container.h"

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

void AppendVarint(uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

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

bool ReadTensor(uint64_t size, Cursor& cursor, WireTensor& tensor) {
  if (size > cursor.remaining()) return false;
  const size_t end = cursor.remaining() - size;
  std::string header;
  while (cursor.remaining() > end) {
    uint64_t tag = 0, count = 0;
    if (!cursor.ReadVarint(tag)) return false;
    if (tag != WireFormatLite::MakeTag(v1::Tensor::kDataFieldNumber,
                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!CopyField(tag, cursor, header)) return false;
      continue;
    }
    tensor.has_data = true;
    tensor.data = {};  // of a field given twice the last counts
    if (!cursor.ReadVarint(count)) return false;
    const auto add_piece = [&tensor](const uint8_t* data, size_t piece_size) {
      tensor.data.Add({reinterpret_cast<const std::byte*>(data), static_cast<int64_t>(piece_size)});
    };
    if (!cursor.Walk(count, add_piece)) return false;
  }
  return cursor.remaining() == end && tensor.header.ParseFromString(header);
}

bool Split(Cursor& cursor, absl::Span<const int> tensor_fields, SplitRequest& split) {
  while (cursor.remaining() > 0) {
    uint64_t tag = 0, size = 0;
    if (!cursor.ReadVarint(tag)) return false;
    const bool message = (tag & 7) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!message || !absl::c_linear_search(tensor_fields, static_cast<int>(tag >> 3))) {
      if (!CopyField(tag, cursor, split.rest)) return false;
      continue;
    }
    WireTensor& tensor = split.tensors.emplace_back();
    tensor.field = static_cast<int>(tag >> 3);
    if (!cursor.ReadVarint(size) || !ReadTensor(size, cursor, tensor)) return false;
  }
  return true;
}

}  // namespace

bool SplitTensors(absl::Span<const grpc::Slice> slices, absl::Span<const int> tensor_fields,
                  SplitRequest& split) {
  Cursor cursor(slices);
  return Split(cursor, tensor_fields, split);
}

}  // namespace gpucall
