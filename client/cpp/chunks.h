// Parts of tensors, one message each.
#ifndef GPUCALL_CLIENT_CPP_CHUNKS_H_
#define GPUCALL_CLIENT_CPP_CHUNKS_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/cpp/message_reader.h"
#include "client/cpp/message_writer.h"

namespace gpucall {
inline namespace client {

inline constexpr size_t kChunkBytes = 1 << 20;

enum class Checksums { kNo, kYes };

// The message whose field `number` is the chunk; it refers to `data`, which `owner` keeps.
grpc::ByteBuffer ChunkMessage(int number, v1::Chunk header, absl::string_view data,
                              Checksums checksums, const Owner& owner);

// Whether a chunk of `what` is the next one: begins at `next`, has some bytes and no more than
// `left`, which are those of its checksum. INTERNAL, DATA_LOSS: it is not.
absl::Status CheckChunk(absl::string_view what, const ReceivedChunk& chunk, size_t next,
                        size_t left);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_CHUNKS_H_
