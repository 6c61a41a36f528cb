// Messages that refer to the elements of tensors where they are.
#ifndef GPUCALL_SERVER_SERVICE_WIRE_WRITER_H_
#define GPUCALL_SERVER_SERVICE_WIRE_WRITER_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "server/base/host_bytes.h"

namespace gpucall {

void AppendVarint(uint64_t value, std::string& bytes);
// The tag and length of a length-delimited field whose content follows.
void AppendFieldHeader(int field, uint64_t size_bytes, std::string& bytes);

// The bytes of one message, part by part. Pieces that are large and have an owner go as they are,
// and keep it until they are sent; the rest is copied.
class WireWriter {
 public:
  void Add(std::string bytes);
  // Pieces without an owner must last until Finish.
  void Add(const HostBytes& bytes);
  grpc::ByteBuffer Finish() const;

 private:
  std::vector<HostBytes::Piece> pieces_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_WIRE_WRITER_H_
