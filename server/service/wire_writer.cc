#include "server/service/wire_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/types/span.h"

namespace gpucall {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr int64_t kMinReferredBytes = 16 << 10;

bool IsReferredTo(const HostBytes::Piece& piece) {
  return piece.owner != nullptr && piece.size_bytes >= kMinReferredBytes;
}

// Keeps the piece's owner until the bytes are sent.
grpc::Slice ReferTo(const HostBytes::Piece& piece) {
  return grpc::Slice(
      const_cast<std::byte*>(piece.data), static_cast<size_t>(piece.size_bytes),
      [](void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); },
      new std::shared_ptr<const void>(piece.owner));
}

grpc::Slice Concatenated(absl::Span<const HostBytes::Piece> pieces) {
  int64_t size_bytes = 0;
  for (const HostBytes::Piece& piece : pieces) size_bytes += piece.size_bytes;
  grpc_slice slice = grpc_slice_malloc(static_cast<size_t>(size_bytes));
  uint8_t* to = GRPC_SLICE_START_PTR(slice);
  for (const HostBytes::Piece& piece : pieces) {
    if (piece.size_bytes == 0) continue;
    std::memcpy(to, piece.data, static_cast<size_t>(piece.size_bytes));
    to += piece.size_bytes;
  }
  return grpc::Slice(slice, grpc::Slice::STEAL_REF);
}

}  // namespace

void AppendVarint(uint64_t value, std::string& bytes) {
  uint8_t buffer[10];
  const uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value, buffer);
  bytes.append(reinterpret_cast<const char*>(buffer), end - buffer);
}

void AppendFieldHeader(int field, uint64_t size_bytes, std::string& bytes) {
  AppendVarint(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), bytes);
  AppendVarint(size_bytes, bytes);
}

void WireWriter::Add(std::string bytes) {
  const auto owned = std::make_shared<const std::string>(std::move(bytes));
  pieces_.push_back({reinterpret_cast<const std::byte*>(owned->data()),
                     static_cast<int64_t>(owned->size()), owned});
}

void WireWriter::Add(const HostBytes& bytes) {
  pieces_.insert(pieces_.end(), bytes.pieces().begin(), bytes.pieces().end());
}

// Copies what lies between pieces that are referred to.
grpc::ByteBuffer WireWriter::Finish() const {
  absl::Span<const HostBytes::Piece> pieces = pieces_;
  std::vector<grpc::Slice> slices;
  while (!pieces.empty()) {
    const auto referred = std::ranges::find_if(pieces, IsReferredTo);
    const auto count = static_cast<size_t>(referred - pieces.begin());
    if (count > 0) slices.push_back(Concatenated(pieces.first(count)));
    pieces.remove_prefix(count);
    if (pieces.empty()) break;
    slices.push_back(ReferTo(pieces[0]));
    pieces.remove_prefix(1);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace gpucall
