// Messages that refer to the elements they hold.
#ifndef GPUCALL_CLIENT_CPP_MESSAGE_WRITER_H_
#define GPUCALL_CLIENT_CPP_MESSAGE_WRITER_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gpucall {
inline namespace client {

// While a copy of it lives, the bytes that it stands for stay where they are.
using Owner = std::shared_ptr<const void>;

// Puts a message together. Bytes that `owner` keeps are not copied where they are many: gRPC then
// holds copies of `owner` until it has sent them, or the call has failed and it lets go of them.
class MessageWriter {
 public:
  explicit MessageWriter(Owner owner) : owner_(std::move(owner)) {}

  void Add(absl::string_view bytes) { absl::StrAppend(&own_, bytes); }
  void AddVarint(uint64_t value);
  // Tag and size of a length-delimited field, whose content comes next.
  void AddFieldHeader(int number, uint64_t size_bytes);
  // Bytes that the owner keeps.
  void AddOwned(absl::string_view bytes);

  size_t size_bytes() const { return flushed_bytes_ + own_.size(); }
  grpc::ByteBuffer Finish();

 private:
  void Flush();

  const Owner owner_;
  std::string own_;  // after the last slice
  std::vector<grpc::Slice> slices_;
  size_t flushed_bytes_ = 0;  // in slices_
};

// Of a field's header and its content.
size_t FieldSizeBytes(int number, size_t content_bytes);

}  // namespace client
}  // namespace gpucall

#endif  // GPUCALL_CLIENT_CPP_MESSAGE_WRITER_H_
