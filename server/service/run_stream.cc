#include "server/service/run_stream.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/status_macros.h"
#include "server/service/caller.h"
#include "server/service/checksum.h"
#include "server/service/deadline.h"
#include "server/service/decode.h"
#include "server/service/encode.h"
#include "server/service/grpc_status.h"
#include "server/service/kept_outputs.h"
#include "server/service/stream_inputs.h"
#include "server/service/stream_outputs.h"

namespace gpucall {
namespace {

// Reads all messages, schedules a Task, then writes its outputs: one thing at a time, so that
// gRPC's flow control holds a fast sender back.
class RunStreamCall final : public StreamReactor {
 public:
  RunStreamCall(const ComputeService& service, grpc::CallbackServerContext& context)
      : service_(service),
        context_(context),
        tenant_(TenantOf(context)),
        sources_(service.store(), service.segments(), tenant_) {
    service_.streams().Begin();
    StartRead(&message_);
  }
  ~RunStreamCall() override { service_.streams().End(); }

  void OnReadDone(bool ok) override {
    const absl::Status status = ok ? Receive() : Schedule();
    if (!status.ok()) {
      Finish(ToGrpcStatus(status));
    } else if (ok) {
      StartRead(&message_);
    }
  }

  void OnWriteDone(bool ok) override {
    const absl::Status status = ok ? WriteNext() : absl::CancelledError("call was cancelled");
    if (!status.ok()) Finish(ToGrpcStatus(status));
  }

  void OnCancel() override { service_.scheduler().Cancel(task_id_); }
  void OnDone() override { delete this; }

 private:
  absl::Status Receive() {
    std::vector<grpc::Slice> slices;
    if (!message_.Dump(&slices).ok()) {
      return absl::InvalidArgumentError("request: its bytes cannot be read");
    }
    GPUCALL_ASSIGN_OR_RETURN(DecodedStreamPart part, DecodeStreamPart(slices, sources_));
    if (part.start.has_value() == (task_ != nullptr)) {
      return absl::InvalidArgumentError("request: start must be the first message, and only it");
    }
    if (part.chunk) return inputs_.Write(*part.chunk);
    start_ = std::move(slices);
    return Begin(*std::move(part.start));
  }

  absl::Status Begin(DecodedStream stream) {
    want_receipt_ = stream.call.want_receipt ? WantReceipt::kYes : WantReceipt::kNo;
    want_checksums_ = stream.want_checksums;
    auto task = std::make_unique<Task>();
    GPUCALL_ASSIGN_OR_RETURN(task->plan, MakePlan(stream.call.program, stream.call.types,
                                                  service_.limits().max_streamed_bytes));
    GPUCALL_ASSIGN_OR_RETURN(const Caller caller, CallerOf(tenant_, stream.call.session));
    task->inputs = std::move(stream.call.inputs);
    task->keep_outputs = std::move(stream.call.keep_outputs);
    GPUCALL_RETURN_IF_ERROR(kept_.Reserve(service_.store(), caller, *task));
    GPUCALL_RETURN_IF_ERROR(
        inputs_.Begin(service_.device(), stream.call.types, stream.is_streamed, task->inputs));
    task->keep_outputs.assign(task->plan.outputs.size(), true);
    task->id = task_id_ = service_.scheduler().NewTaskId();
    task->deadline = DeadlineOf(context_);
    task->done = [this, &plan = task->plan](const TaskResult& result) { Reply(plan, result); };
    task_ = std::move(task);
    return absl::OkStatus();
  }

  absl::Status Schedule() {
    if (context_.IsCancelled()) return absl::CancelledError("call was cancelled");
    if (task_ == nullptr) return absl::InvalidArgumentError("request: start is missing");
    GPUCALL_RETURN_IF_ERROR(inputs_.Finish());
    return service_.scheduler().Schedule(std::move(task_));
  }

  void Reply(const Plan& plan, const TaskResult& result) {
    if (!result.status.ok()) return Finish(ToGrpcStatus(result.status));
    const auto handles = kept_.Keep(service_.store(), plan, result);
    if (!handles.ok()) return Finish(ToGrpcStatus(handles.status()));
    for (size_t i = 0; i < result.outputs.size(); ++i) {
      results_.push_back((*handles)[i].empty() ? result.outputs[i].resident : nullptr);
    }
    reply_ = EncodeStreamResult(plan, result, *handles, want_receipt_, service_.device().info().id);
    StartWrite(&reply_);
  }

  absl::Status WriteNext() {
    if (!results_.empty()) {
      GPUCALL_RETURN_IF_ERROR(outputs_.Begin(service_.device(), std::exchange(results_, {})));
    }
    GPUCALL_ASSIGN_OR_RETURN(const std::optional<StreamOutputs::Chunk> chunk, outputs_.Next());
    if (!chunk) {
      Finish(grpc::Status::OK);
      return absl::OkStatus();
    }
    std::optional<uint32_t> crc32;
    if (want_checksums_) crc32 = Crc32(chunk->data);
    reply_ = EncodeChunk(chunk->tensor, chunk->offset, chunk->data, crc32);
    StartWrite(&reply_);
    return absl::OkStatus();
  }

  const ComputeService& service_;
  const grpc::CallbackServerContext& context_;
  const std::string tenant_;
  ResidentSources sources_;
  grpc::ByteBuffer message_, reply_;
  std::vector<grpc::Slice> start_;  // holds the inline inputs
  std::unique_ptr<Task> task_;      // until it is scheduled
  std::atomic<TaskId> task_id_ = 0;
  WantReceipt want_receipt_ = WantReceipt::kNo;
  bool want_checksums_ = false;
  StreamInputs inputs_;
  KeptOutputs kept_;
  std::vector<BufferPointer> results_;  // until the first of them is read
  StreamOutputs outputs_;
};

}  // namespace

StreamReactor* StartRunStream(const ComputeService& service, grpc::CallbackServerContext& context) {
  return new RunStreamCall(service, context);  // deletes itself in OnDone
}

}  // namespace gpucall
