#include "client/cpp/message_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gpucall {
inline namespace client {
namespace {

using google::protobuf::internal::WireFormatLite;

// One field of a message: `value` of a varint, else `bytes`.
struct Field {
  int number = 0;
  WireFormatLite::WireType type = WireFormatLite::WIRETYPE_VARINT;
  uint64_t value = 0;
  Pieces bytes;

  bool IsBytes(int wanted) const {
    return number == wanted && type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  }
};

void AppendVarint(uint64_t value, std::string& to) {
  uint8_t bytes[10];
  const uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value, bytes);
  to.append(reinterpret_cast<const char*>(bytes), end - bytes);
}

// As it was on the wire.
void Append(const Field& field, std::string& to) {
  AppendVarint(static_cast<uint64_t>(field.number) << 3 | field.type, to);
  if (field.type == WireFormatLite::WIRETYPE_VARINT) AppendVarint(field.value, to);
  if (field.type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
    AppendVarint(SizeBytes(field.bytes), to);
  }
  for (absl::string_view piece : field.bytes) absl::StrAppend(&to, piece);
}

class FieldReader {
 public:
  explicit FieldReader(Pieces message) : message_(std::move(message)) { SkipEmpty(); }

  // The next field; false at the end, and where the bytes are no message: then not ok().
  bool Next(Field& field) {
    if (!ok_ || piece_ == message_.size()) return false;
    ok_ = Read(field);
    return ok_;
  }
  bool ok() const { return ok_; }

 private:
  bool Read(Field& field) {
    uint64_t tag = 0;
    if (!ReadVarint(tag) || tag >> 3 == 0 || tag >> 3 > kMaxNumber) return false;
    field.number = static_cast<int>(tag >> 3);
    field.type = static_cast<WireFormatLite::WireType>(tag & 7);
    field.bytes.clear();
    switch (field.type) {
      case WireFormatLite::WIRETYPE_VARINT:
        return ReadVarint(field.value);
      case WireFormatLite::WIRETYPE_FIXED64:
        return ReadBytes(8, field.bytes);
      case WireFormatLite::WIRETYPE_FIXED32:
        return ReadBytes(4, field.bytes);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return ReadVarint(field.value) && ReadBytes(field.value, field.bytes);
      default:
        return false;  // groups are not used
    }
  }

  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (piece_ == message_.size()) return false;
      const auto byte = static_cast<uint8_t>(message_[piece_].front());
      Skip(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  bool ReadBytes(uint64_t count, Pieces& bytes) {
    while (count > 0) {
      if (piece_ == message_.size()) return false;
      bytes.push_back(message_[piece_].substr(0, count));
      count -= bytes.back().size();
      Skip(bytes.back().size());
    }
    return true;
  }

  void Skip(size_t count) {
    message_[piece_].remove_prefix(count);
    SkipEmpty();
  }
  void SkipEmpty() {
    while (piece_ < message_.size() && message_[piece_].empty()) ++piece_;
  }

  static constexpr uint64_t kMaxNumber = (1 << 29) - 1;

  Pieces message_;
  size_t piece_ = 0;  // the first with bytes left
  bool ok_ = true;
};

// A message whose field kDataFieldNumber is left where it is.
template <typename Message>
bool ReadWithData(Pieces bytes, Message& header, bool& has_data, Pieces& data) {
  FieldReader reader(std::move(bytes));
  std::string rest;
  for (Field field; reader.Next(field);) {
    if (field.IsBytes(Message::kDataFieldNumber)) {
      has_data = true;
      data = std::move(field.bytes);
    } else {
      Append(field, rest);
    }
  }
  return reader.ok() && header.ParseFromString(rest);
}

}  // namespace

Pieces PiecesOf(absl::Span<const grpc::Slice> slices) {
  Pieces pieces;
  for (const grpc::Slice& slice : slices) {
    pieces.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return pieces;
}

size_t SizeBytes(const Pieces& pieces) {
  size_t size_bytes = 0;
  for (absl::string_view piece : pieces) size_bytes += piece.size();
  return size_bytes;
}

void Copy(const Pieces& pieces, char* to) {
  for (absl::string_view piece : pieces) {
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
}

bool ReadReply(Pieces message, ReceivedReply& reply) {
  FieldReader reader(std::move(message));
  for (Field field; reader.Next(field);) {
    if (field.IsBytes(v1::RunReply::kOutputsFieldNumber)) {
      ReceivedTensor& output = reply.outputs.emplace_back();
      if (!ReadWithData(std::move(field.bytes), output.header, output.has_data, output.data)) {
        return false;
      }
    } else if (field.IsBytes(v1::RunReply::kReceiptFieldNumber)) {
      reply.has_receipt = true;
      std::string receipt(SizeBytes(field.bytes), '\0');
      Copy(field.bytes, receipt.data());
      if (!reply.receipt.ParseFromString(receipt)) return false;
    }
  }
  return reader.ok();
}

bool ReadStreamReply(Pieces message, ReceivedPart& part) {
  FieldReader reader(std::move(message));
  bool has_data = false;
  for (Field field; reader.Next(field);) {
    if (field.IsBytes(v1::RunStreamReply::kResultFieldNumber)) {
      if (!ReadReply(std::move(field.bytes), part.result.emplace())) return false;
    } else if (field.IsBytes(v1::RunStreamReply::kChunkFieldNumber)) {
      ReceivedChunk& chunk = part.chunk.emplace();
      if (!ReadWithData(std::move(field.bytes), chunk.header, has_data, chunk.data)) return false;
    }
  }
  return reader.ok();
}

}  // namespace client
}  // namespace gpucall
