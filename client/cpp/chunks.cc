#include "client/cpp/chunks.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "client/cpp/checksum.h"
#include "client/cpp/wire.h"

namespace gpucall {
inline namespace client {
namespace {

uint32_t Crc32Of(const Pieces& pieces) {
  uint32_t crc = 0;
  for (absl::string_view piece : pieces) crc = Crc32(piece, crc);
  return crc;
}

}  // namespace

grpc::ByteBuffer ChunkMessage(int number, v1::Chunk header, absl::string_view data,
                              Checksums checksums, const Owner& owner) {
  if (checksums == Checksums::kYes) header.set_crc32(Crc32(data));
  const std::string head = header.SerializeAsString();
  MessageWriter writer(owner);
  writer.AddFieldHeader(number,
                        head.size() + FieldSizeBytes(v1::Chunk::kDataFieldNumber, data.size()));
  writer.Add(head);
  writer.AddFieldHeader(v1::Chunk::kDataFieldNumber, data.size());
  writer.AddOwned(data);
  return writer.Finish();
}

absl::Status CheckChunk(absl::string_view what, const ReceivedChunk& chunk, size_t next,
                        size_t left) {
  const size_t size_bytes = SizeBytes(chunk.data);
  if (chunk.header.offset() != next) {
    return BadReply(absl::StrCat("has a chunk of ", what, " at offset ", chunk.header.offset(),
                                 ", the next is ", next));
  }
  if (size_bytes == 0 || size_bytes > left) {
    return BadReply(absl::StrCat("has a chunk of ", size_bytes, " bytes of ", what, ", where ",
                                 left, " are left"));
  }
  if (!chunk.header.has_crc32() || chunk.header.crc32() == Crc32Of(chunk.data)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("the server's reply has a chunk of ", what, " at offset ",
                                          next, " whose crc32 is ", Crc32Of(chunk.data), ", not ",
                                          chunk.header.crc32()));
}

}  // namespace client
}  // namespace gpucall
