#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/caller.h"
#include "server/service/checksum.h"
#include "server/service/grpc_status.h"
#include "server/service/request_reader.h"
#include "server/service/resident_calls.h"
#include "server/service/stream_inputs.h"
#include "server/service/tensor_streams.h"
#include "server/service/wire_writer.h"

namespace gpucall {
namespace {

// Reads one message at a time, so that gRPC's flow control holds a fast sender back.
class TensorWrite final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  TensorWrite(const ComputeService& service, const grpc::CallbackServerContext& context,
              grpc::ByteBuffer* reply)
      : service_(service), context_(context), tenant_(TenantOf(context)), reply_(reply) {
    service_.streams().Begin();
    StartRead(&message_);
  }
  ~TensorWrite() override { service_.streams().End(); }

  void OnReadDone(bool ok) override {
    const absl::Status status = ok ? Receive() : Complete();
    if (status.ok() && ok) return StartRead(&message_);
    GiveUp();
    Finish(ToGrpcStatus(status));
  }
  void OnDone() override { delete this; }

 private:
  absl::Status Receive() {
    std::vector<grpc::Slice> slices;
    StreamPart part;
    v1::WriteStart start;
    if (!message_.Dump(&slices).ok() || !ReadStreamPart(slices, {}, part) ||
        (part.start && !start.ParseFromString(part.start->rest))) {
      return absl::InvalidArgumentError("request: is not a valid gpucall.v1.WriteRequest message");
    }
    if (part.start.has_value() == part.chunk.has_value()) {
      return absl::InvalidArgumentError("request: part is not set, allowed are start and chunk");
    }
    if (part.start.has_value() == writing_.has_value()) {
      return absl::InvalidArgumentError("request: start must be the first message, and only it");
    }
    return part.start ? Begin(start) : Write(*part.chunk);
  }

  absl::Status Begin(const v1::WriteStart& start) {
    GPUCALL_ASSIGN_OR_RETURN(const Handle handle, Handle::FromBytes("handle", start.handle()));
    GPUCALL_ASSIGN_OR_RETURN(copier_, service_.device().MakeCopier());
    std::optional<uint64_t> size_bytes;
    if (start.has_size_bytes()) size_bytes = start.size_bytes();
    GPUCALL_ASSIGN_OR_RETURN(
        writing_, service_.store().BeginWrite(tenant_, handle, start.offset(), size_bytes));
    next_ = writing_->offset;
    return absl::OkStatus();
  }

  absl::Status Write(const WireChunk& chunk) {
    GPUCALL_RETURN_IF_ERROR(CheckChunk("chunk", chunk, next_, end() - next_));
    GPUCALL_RETURN_IF_ERROR(copier_->Write(chunk.data, writing_->buffer, next_));
    next_ += chunk.data.size_bytes();
    return absl::OkStatus();
  }

  // The caller has sent all it will.
  absl::Status Complete() {
    if (context_.IsCancelled()) return absl::CancelledError("call was cancelled");
    if (!writing_) return absl::InvalidArgumentError("request: start is missing");
    if (next_ != end()) {
      return absl::InvalidArgumentError(absl::StrCat("write: the stream ended after ",
                                                     next_ - writing_->offset, " of ",
                                                     writing_->size_bytes, " bytes"));
    }
    GPUCALL_RETURN_IF_ERROR(copier_->Finish());
    const TensorStore::Writing written = *std::exchange(writing_, std::nullopt);
    const auto now = std::chrono::steady_clock::now();
    GPUCALL_RETURN_IF_ERROR(
        service_.store().EndWrite(tenant_, written, TensorStore::Outcome::kWritten, now));
    GPUCALL_ASSIGN_OR_RETURN(const TensorStore::Info info,
                             service_.store().Stat(tenant_, written.handle));
    v1::ResidentTensor reply;
    SetInfo(info, service_.device(), now, reply);
    WireWriter writer;
    writer.Add(reply.SerializeAsString());
    *reply_ = writer.Finish();
    return absl::OkStatus();
  }

  // Leaves the part to others, once nothing is written to it any more.
  void GiveUp() {
    if (!writing_) return;
    static_cast<void>(copier_->Finish());
    static_cast<void>(service_.store().EndWrite(tenant_, *writing_, TensorStore::Outcome::kGivenUp,
                                                std::chrono::steady_clock::now()));
  }

  int64_t end() const { return writing_->offset + writing_->size_bytes; }

  const ComputeService& service_;
  const grpc::CallbackServerContext& context_;
  const std::string tenant_;
  grpc::ByteBuffer* const reply_;
  grpc::ByteBuffer message_;
  std::optional<TensorStore::Writing> writing_;  // from start to the end
  int64_t next_ = 0;                             // offset of the next chunk
  std::unique_ptr<Copier> copier_;
};

}  // namespace

grpc::ServerReadReactor<grpc::ByteBuffer>* StartTensorWrite(
    const ComputeService& service, const grpc::CallbackServerContext& context,
    grpc::ByteBuffer* reply) {
  return new TensorWrite(service, context, reply);  // deletes itself in OnDone
}

}  // namespace gpucall
