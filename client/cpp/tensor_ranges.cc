#include "client/cpp/tensor_ranges.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "client/cpp/byte_stream.h"
#include "client/cpp/chunks.h"
#include "client/cpp/wire.h"
#include "gpucall/v1/tensors.pb.h"

namespace gpucall {
inline namespace client {
namespace {

static_assert(int{v1::ReadReply::kChunkFieldNumber} == int{v1::RunStreamReply::kChunkFieldNumber});

// Smaller ranges take no less time on connections of their own.
constexpr size_t kMinRangeBytes = 8 << 20;

struct Range {
  size_t offset, size_bytes;
};

// What the transfers of one tensor's ranges share. Thread-safe.
class Transfer {
 public:
  Transfer(size_t size_bytes, const CallOptions& options, absl::Time deadline)
      : size_bytes_(static_cast<int64_t>(size_bytes)),
        options_(options),
        deadline_(deadline),
        stop_(options.stop, [this] { cancel_.request_stop(); }) {}

  absl::Time deadline() const { return deadline_; }
  std::stop_token stop() const { return cancel_.get_token(); }
  bool checksums() const { return options_.checksums; }

  void Moved(size_t bytes) {
    if (options_.progress == nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    moved_ += static_cast<int64_t>(bytes);
    options_.progress(moved_, size_bytes_);
  }
  void End(const absl::Status& status) {
    if (status.ok()) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      status_.Update(status);
    }
    cancel_.request_stop();
  }
  // Once all have ended.
  absl::Status status() const { return status_; }

 private:
  const int64_t size_bytes_;
  const CallOptions& options_;
  const absl::Time deadline_;
  std::stop_source cancel_;
  std::mutex mutex_;
  int64_t moved_ = 0;
  absl::Status status_;
  std::stop_callback<std::function<void()>> stop_;  // last: refers to cancel_
};

grpc::ByteBuffer ToBytes(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status WriteRange(const std::shared_ptr<grpc::Channel>& channel, const std::string& handle,
                        absl::string_view bytes, Range range, Transfer& transfer) {
  ByteStream stream(channel, "/gpucall.v1.Tensors/Write", transfer.deadline(), transfer.stop());
  v1::WriteRequest first;
  first.mutable_start()->set_handle(handle);
  first.mutable_start()->set_offset(range.offset);
  first.mutable_start()->set_size_bytes(range.size_bytes);
  bool open = stream.Write(ToBytes(first));
  for (size_t done = 0; open && done < range.size_bytes; done += kChunkBytes) {
    const size_t size_bytes = std::min(kChunkBytes, range.size_bytes - done);
    v1::Chunk header;
    header.set_offset(range.offset + done);
    open = stream.Write(ChunkMessage(
        v1::WriteRequest::kChunkFieldNumber, header, bytes.substr(range.offset + done, size_bytes),
        transfer.checksums() ? Checksums::kYes : Checksums::kNo, stream.owner()));
    if (open) transfer.Moved(size_bytes);
  }
  if (open) stream.WritesDone();
  grpc::ByteBuffer reply;
  stream.Read(reply);
  return stream.Finish();
}

absl::Status ReadRange(const std::shared_ptr<grpc::Channel>& channel, const std::string& handle,
                       absl::Span<char> bytes, Range range, Transfer& transfer) {
  ByteStream stream(channel, "/gpucall.v1.Tensors/Read", transfer.deadline(), transfer.stop());
  v1::ReadRequest request;
  request.set_handle(handle);
  request.set_offset(range.offset);
  request.set_size_bytes(range.size_bytes);
  request.set_checksums(transfer.checksums());
  if (stream.Write(ToBytes(request))) stream.WritesDone();
  size_t next = range.offset;
  const size_t end = range.offset + range.size_bytes;
  for (grpc::ByteBuffer message; stream.Read(message); message.Clear()) {
    std::vector<grpc::Slice> slices;
    ReceivedPart part;
    if (!message.Dump(&slices).ok() || !ReadStreamReply(PiecesOf(slices), part) || !part.chunk) {
      return BadReply("has a message that is no part of a tensor");
    }
    if (absl::Status status = CheckChunk("the tensor", *part.chunk, next, end - next);
        !status.ok()) {
      return status;
    }
    Copy(part.chunk->data, bytes.data() + next);
    const size_t size_bytes = SizeBytes(part.chunk->data);
    next += size_bytes;
    transfer.Moved(size_bytes);
  }
  const absl::Status status = stream.Finish();
  if (status.ok() && next != end) return BadReply("ended early");
  return status;
}

// Runs move(channel, range) for ranges that make up all bytes.
template <typename Move>
absl::Status InRanges(Connection& connection, size_t size_bytes, Transfer& transfer, Move move) {
  const size_t parts = std::clamp<size_t>(size_bytes / kMinRangeBytes, 1, connection.stripes());
  const size_t part_bytes = (size_bytes / parts + kChunkBytes - 1) / kChunkBytes * kChunkBytes;
  const auto run = [&](size_t part) {
    const size_t offset = std::min(part * part_bytes, size_bytes);
    const Range range = {offset, std::min(part_bytes, size_bytes - offset)};
    if (range.size_bytes == 0) return;
    transfer.End(move(connection.Stripe(part), range));
  };
  {
    std::vector<std::jthread> threads;
    for (size_t part = 1; part < parts; ++part) threads.emplace_back(run, part);
    run(0);
  }
  return transfer.status();
}

}  // namespace

absl::Status WriteTensor(Connection& connection, const std::string& handle, absl::string_view bytes,
                         const CallOptions& options, absl::Time deadline) {
  Transfer transfer(bytes.size(), options, deadline);
  return InRanges(connection, bytes.size(), transfer, [&](const auto& channel, Range range) {
    return WriteRange(channel, handle, bytes, range, transfer);
  });
}

absl::Status ReadTensor(Connection& connection, const std::string& handle, absl::Span<char> bytes,
                        const CallOptions& options, absl::Time deadline) {
  Transfer transfer(bytes.size(), options, deadline);
  return InRanges(connection, bytes.size(), transfer, [&](const auto& channel, Range range) {
    return ReadRange(channel, handle, bytes, range, transfer);
  });
}

}  // namespace client
}  // namespace gpucall
