#include "client/cpp/message_writer.h"

#include <google/protobuf/io/coded_stream.h>

#include <utility>

namespace gpucall {
inline namespace client {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr size_t kMinReferredBytes = 64 << 10;  // below, a copy costs less than a slice

constexpr uint64_t TagOf(int number) { return static_cast<uint64_t>(number) << 3 | 2; }

}  // namespace

void MessageWriter::AddVarint(uint64_t value) {
  uint8_t bytes[10];
  const uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  own_.append(reinterpret_cast<const char*>(bytes), end - bytes);
}

void MessageWriter::AddFieldHeader(int number, uint64_t size_bytes) {
  AddVarint(TagOf(number));
  AddVarint(size_bytes);
}

void MessageWriter::AddOwned(absl::string_view bytes) {
  if (bytes.size() < kMinReferredBytes) {
    Add(bytes);
    return;
  }
  Flush();
  flushed_bytes_ += bytes.size();
  slices_.emplace_back(
      const_cast<char*>(bytes.data()), bytes.size(),
      [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(owner_));
}

void MessageWriter::Flush() {
  if (own_.empty()) return;
  flushed_bytes_ += own_.size();
  slices_.emplace_back(own_);
  own_.clear();
}

grpc::ByteBuffer MessageWriter::Finish() {
  Flush();
  return grpc::ByteBuffer(slices_.data(), slices_.size());
}

size_t FieldSizeBytes(int number, size_t content_bytes) {
  return CodedOutputStream::VarintSize64(TagOf(number)) +
         CodedOutputStream::VarintSize64(content_bytes) + content_bytes;
}

}  // namespace client
}  // namespace gpucall
