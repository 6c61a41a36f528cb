#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/caller.h"
#include "server/service/checksum.h"
#include "server/service/encode.h"
#include "server/service/grpc_status.h"
#include "server/service/stream_outputs.h"
#include "server/service/tensor_streams.h"
#include "server/store/held_buffer.h"

namespace gpucall {
namespace {

// Writes one chunk at a time, so that a slow reader holds up no more than a few blocks.
class TensorRead final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  TensorRead(const ComputeService& service, std::string tenant)
      : service_(service), tenant_(std::move(tenant)) {
    service_.streams().Begin();
  }
  ~TensorRead() override { service_.streams().End(); }

  void Start(const grpc::ByteBuffer& request) {
    const absl::Status status = Begin(request);
    if (!status.ok()) Finish(ToGrpcStatus(status));
  }

  void OnWriteDone(bool ok) override {
    const absl::Status status = ok ? WriteNext() : absl::CancelledError("call was cancelled");
    if (!status.ok()) Finish(ToGrpcStatus(status));
  }
  void OnDone() override { delete this; }

 private:
  absl::Status Begin(const grpc::ByteBuffer& bytes) {
    grpc::Slice slice;
    v1::ReadRequest request;
    if (!bytes.DumpToSingleSlice(&slice).ok() ||
        !request.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) {
      return absl::InvalidArgumentError("request: is not a valid gpucall.v1.ReadRequest message");
    }
    ResidentSources sources(service_.store(), service_.segments(), tenant_);
    GPUCALL_ASSIGN_OR_RETURN(StoredTensor tensor, sources.FindResident(request.handle()));
    const auto size = static_cast<uint64_t>(tensor.buffer->size_bytes());
    const uint64_t offset = request.offset();
    const uint64_t wanted =
        request.has_size_bytes() ? request.size_bytes() : size - std::min(offset, size);
    if (offset > size || wanted > size - offset) {
      return absl::InvalidArgumentError(
          absl::StrCat("read: ", wanted, " bytes at offset ", offset, ", the tensor has ", size));
    }
    want_checksums_ = request.checksums();
    const auto first = static_cast<int64_t>(offset);
    GPUCALL_RETURN_IF_ERROR(chunks_.Begin(
        service_.device(), {PartOf(std::move(tensor.buffer), first, static_cast<int64_t>(wanted))},
        {first}));
    return WriteNext();
  }

  absl::Status WriteNext() {
    GPUCALL_ASSIGN_OR_RETURN(const std::optional<StreamOutputs::Chunk> chunk, chunks_.Next());
    if (!chunk) {
      Finish(grpc::Status::OK);
      return absl::OkStatus();
    }
    std::optional<uint32_t> crc32;
    if (want_checksums_) crc32 = Crc32(chunk->data);
    reply_ = EncodeChunk(0, chunk->offset, chunk->data, crc32);
    StartWrite(&reply_);
    return absl::OkStatus();
  }

  const ComputeService& service_;
  const std::string tenant_;
  grpc::ByteBuffer reply_;
  bool want_checksums_ = false;
  StreamOutputs chunks_;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartTensorRead(
    const ComputeService& service, const grpc::CallbackServerContext& context,
    const grpc::ByteBuffer& request) {
  auto* read = new TensorRead(service, TenantOf(context));  // deletes itself in OnDone
  read->Start(request);
  return read;
}

}  // namespace gpucall
