#include "server/service/run_stream.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/service/caller.h"
#include "server/service/checksum.h"
#include "server/service/deadline.h"
#include "server/service/decode.h"
#include "server/service/encode.h"
#include "server/service/grpc_status.h"
#include "server/service/kept_outputs.h"
#include "server/service/stream_blocks.h"
#include "server/service/stream_inputs.h"
#include "server/service/stream_outputs.h"

namespace gpucall {
namespace {

// Reads messages, schedules a Task for each block whose inputs have come, and writes the outputs of
// blocks in order. One message at a time each way, so that gRPC's flow control holds back who is
// too fast. Ends once no Task is in flight and no write under way.
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
    const absl::Status status = ok ? Receive() : CheckComplete();
    if (!status.ok()) return Fail(status);
    if (ok) StartRead(&message_);
  }

  void OnWriteDone(bool ok) override {
    EndWrite(ok ? absl::OkStatus() : absl::CancelledError("call was cancelled"));
  }

  void OnCancel() override {
    std::vector<TaskId> tasks;
    {
      MutexLock lock(mutex_);
      status_.Update(absl::CancelledError("call was cancelled"));
      for (const auto& [block, task] : in_flight_) tasks.push_back(task);
    }
    for (const TaskId task : tasks) service_.scheduler().Cancel(task);
    Fail(absl::OkStatus());
  }

  void OnDone() override { delete this; }

 private:
  // What the caller does next, once the lock is let go. A lane's thread that has nothing to do must
  // not touch the call any more: others may end it, and then it is deleted.
  struct Action {
    enum Kind { kNone, kWrite, kEnd } kind = kNone;
    absl::Status status = absl::OkStatus();  // of kEnd
  };

  // The output buffers of a block.
  using Results = std::vector<BufferPointer>;

  absl::Status Receive() {
    std::vector<grpc::Slice> slices;
    if (!message_.Dump(&slices).ok()) {
      return absl::InvalidArgumentError("request: its bytes cannot be read");
    }
    GPUCALL_ASSIGN_OR_RETURN(DecodedStreamPart part, DecodeStreamPart(slices, sources_));
    if (part.start.has_value() == blocks_.has_value()) {
      return absl::InvalidArgumentError("request: start must be the first message, and only it");
    }
    if (part.chunk) {
      GPUCALL_RETURN_IF_ERROR(inputs_.Write(*part.chunk));
    } else {
      start_ = std::move(slices);
      GPUCALL_RETURN_IF_ERROR(Begin(*std::move(part.start)));
    }
    while (next_block_ < blocks_->count() && inputs_.HasBlock(next_block_)) {
      GPUCALL_RETURN_IF_ERROR(Schedule(next_block_++));
    }
    return absl::OkStatus();
  }

  absl::Status Begin(DecodedStream stream) {
    want_checksums_ = stream.want_checksums;
    keep_outputs_ = stream.call.keep_outputs;
    GPUCALL_ASSIGN_OR_RETURN(caller_, CallerOf(tenant_, stream.call.session));
    GPUCALL_ASSIGN_OR_RETURN(blocks_,
                             StreamBlocks::Make(stream.call, service_.limits().max_streamed_bytes));
    {
      MutexLock lock(mutex_);
      block_count_ = blocks_->count();
      want_receipt_ = stream.call.want_receipt;
    }
    return inputs_.Begin(service_.device(), *blocks_, std::move(stream));
  }

  absl::Status CheckComplete() const {
    if (!blocks_) return absl::InvalidArgumentError("request: start is missing");
    return inputs_.CheckComplete();
  }

  absl::Status Schedule(int64_t block) {
    auto task = std::make_unique<Task>();
    GPUCALL_ASSIGN_OR_RETURN(task->plan, blocks_->PlanOf(block));
    GPUCALL_ASSIGN_OR_RETURN(task->inputs, inputs_.TakeBlock(block));
    if (!keep_outputs_.empty()) {  // then this is the only block
      task->keep_outputs = keep_outputs_;
      GPUCALL_RETURN_IF_ERROR(kept_.Reserve(service_.store(), caller_, *task));
    }
    task->keep_outputs.assign(task->plan.outputs.size(), true);
    task->id = service_.scheduler().NewTaskId();
    task->deadline = DeadlineOf(context_);
    task->done = [this, block](const TaskResult& result) { Finished(block, result); };
    {
      MutexLock lock(mutex_);
      if (!status_.ok()) return status_;
      in_flight_[block] = task->id;
    }
    const absl::Status status = service_.scheduler().Schedule(std::move(task));
    if (!status.ok()) {
      MutexLock lock(mutex_);
      in_flight_.erase(block);
    }
    return status;
  }

  // On a lane's thread: the block's Task is over.
  void Finished(int64_t block, const TaskResult& result) {
    auto handles = kept_.Keep(service_.store(), blocks_->whole(), result);
    Action action;
    {
      MutexLock lock(mutex_);
      in_flight_.erase(block);
      status_.Update(result.status);
      status_.Update(handles.status());
      if (status_.ok()) {
        Results& results = results_[block];
        for (size_t i = 0; i < result.outputs.size(); ++i) {
          results.push_back((*handles)[i].empty() ? result.outputs[i].resident : nullptr);
        }
        handles_ = *std::move(handles);
        AddToReceipt(result);
      }
      action = NextAction();
    }
    Run(std::move(action));
  }

  void AddToReceipt(const TaskResult& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (receipt_.batch_size == 0) receipt_.queue_time = result.queue_time;
    receipt_.batch_size = std::max(receipt_.batch_size, result.batch_size);
    receipt_.timing.copy_in += result.timing.copy_in;
    receipt_.timing.compute += result.timing.compute;
    receipt_.timing.copy_out += result.timing.copy_out;
  }

  void Fail(const absl::Status& status) {
    Action action;
    {
      MutexLock lock(mutex_);
      status_.Update(status);
      action = NextAction();
    }
    Run(std::move(action));
  }

  void EndWrite(const absl::Status& status) {
    Action action;
    {
      MutexLock lock(mutex_);
      is_writing_ = false;
      status_.Update(status);
      action = NextAction();
    }
    Run(std::move(action));
  }

  Action NextAction() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (is_writing_ || is_ended_) return {};
    if (status_.ok() && !all_sent_) {
      if (!HasMoreToSend()) return {};
      is_writing_ = true;
      return {Action::kWrite};
    }
    if (!in_flight_.empty()) return {};
    is_ended_ = true;
    return {Action::kEnd, status_};
  }

  void Run(Action action) {
    if (action.kind == Action::kWrite) Write();
    if (action.kind == Action::kEnd) Finish(ToGrpcStatus(action.status));
  }

  bool HasMoreToSend() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return block_is_open_ || results_.contains(next_sent_) ||
           (block_count_ > 0 && next_sent_ == block_count_);  // the receipt, or the end
  }

  // REQUIRES: is_writing_ was set by the caller, which makes it the only writer.
  void Write() {
    const absl::StatusOr<bool> wrote = WriteNext();
    if (wrote.ok() && *wrote) return;  // goes on in OnWriteDone
    EndWrite(wrote.status());
  }

  // False: there is nothing to write now.
  absl::StatusOr<bool> WriteNext() {
    if (!std::exchange(is_head_sent_, true)) {
      Send(EncodeStreamResult(blocks_->whole(), handles()));
      return true;
    }
    while (true) {
      GPUCALL_ASSIGN_OR_RETURN(const std::optional<StreamOutputs::Chunk> chunk, outputs_.Next());
      if (chunk) {
        std::optional<uint32_t> crc32;
        if (want_checksums_) crc32 = Crc32(chunk->data);
        Send(EncodeChunk(chunk->tensor, chunk->offset, chunk->data, crc32));
        return true;
      }
      GPUCALL_ASSIGN_OR_RETURN(const bool opened, OpenNextBlock());
      if (!opened) break;
    }
    return SendReceipt();
  }

  absl::StatusOr<bool> OpenNextBlock() {
    Results results;
    int64_t block = 0;
    {
      MutexLock lock(mutex_);
      block_is_open_ = results_.contains(next_sent_);
      if (!block_is_open_) return false;
      block = next_sent_++;
      results = std::move(results_.extract(block).mapped());
    }
    std::vector<int64_t> offsets;
    for (const uint32_t value : blocks_->whole().outputs) {
      offsets.push_back(blocks_->RangeOf(blocks_->whole().values[value], block).offset);
    }
    GPUCALL_RETURN_IF_ERROR(
        outputs_.Begin(service_.device(), std::move(results), std::move(offsets)));
    return true;
  }

  // Once all blocks are sent, the last message, if it is wanted.
  bool SendReceipt() {
    TaskResult receipt;
    {
      MutexLock lock(mutex_);
      if (block_count_ == 0 || next_sent_ < block_count_) return false;
      all_sent_ = !std::exchange(want_receipt_, false);
      if (all_sent_) return false;
      receipt = receipt_;
    }
    Send(EncodeStreamReceipt(receipt, service_.device().info().id));
    return true;
  }

  std::vector<std::string> handles() {
    MutexLock lock(mutex_);
    return handles_;
  }

  void Send(grpc::ByteBuffer message) {
    reply_ = std::move(message);
    StartWrite(&reply_);
  }

  const ComputeService& service_;
  const grpc::CallbackServerContext& context_;
  const std::string tenant_;
  ResidentSources sources_;
  // Of reading:
  grpc::ByteBuffer message_;
  std::vector<grpc::Slice> start_;      // holds the inline inputs
  std::optional<StreamBlocks> blocks_;  // set by the first message, before any Task
  StreamInputs inputs_;
  int64_t next_block_ = 0;
  bool want_checksums_ = false;
  Caller caller_;
  absl::InlinedVector<bool, 4> keep_outputs_;  // those that stay on the server; then one block
  KeptOutputs kept_;
  // Of writing:
  grpc::ByteBuffer reply_;
  StreamOutputs outputs_;
  bool is_head_sent_ = false;

  Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  int64_t block_count_ ABSL_GUARDED_BY(mutex_) = 0;              // 0: not known yet
  std::map<int64_t, TaskId> in_flight_ ABSL_GUARDED_BY(mutex_);  // by block
  std::map<int64_t, Results> results_ ABSL_GUARDED_BY(mutex_);   // by block, not sent yet
  std::vector<std::string> handles_ ABSL_GUARDED_BY(mutex_);     // of the outputs, once known
  int64_t next_sent_ ABSL_GUARDED_BY(mutex_) = 0;
  TaskResult receipt_ ABSL_GUARDED_BY(mutex_);  // of all blocks together
  bool want_receipt_ ABSL_GUARDED_BY(mutex_) = false;
  bool block_is_open_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool all_sent_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

StreamReactor* StartRunStream(const ComputeService& service, grpc::CallbackServerContext& context) {
  return new RunStreamCall(service, context);  // deletes itself in OnDone
}

}  // namespace gpucall
