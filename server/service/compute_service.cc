#include "server/service/compute_service.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/deadline.h"
#include "server/service/decode.h"
#include "server/service/encode.h"
#include "server/service/grpc_status.h"
#include "server/service/run_stream.h"

namespace gpucall {
namespace {

// One call: holds the request until its task is done. gRPC deletes it through OnDone, which comes
// after the handler has returned and after Finish and OnCancel are over.
class ComputeCall final : public grpc::ServerUnaryReactor {
 public:
  ComputeCall(const ComputeService& service, grpc::ByteBuffer* reply)
      : service_(service), reply_(reply) {}

  using Decode = absl::StatusOr<DecodedCall> (*)(absl::Span<const grpc::Slice> request);

  void Start(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
             Decode decode) {
    const absl::Status status = Schedule(context, request, decode);
    if (!status.ok()) Finish(ToGrpcStatus(status));
  }

  void OnCancel() override { service_.scheduler().Cancel(task_id_); }
  void OnDone() override { delete this; }

 private:
  absl::Status Schedule(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                        Decode decode) {
    if (!request.Dump(&request_).ok()) {
      return absl::InvalidArgumentError("request: its bytes cannot be read");
    }
    GPUCALL_ASSIGN_OR_RETURN(DecodedCall call, decode(request_));
    want_receipt_ = call.want_receipt ? WantReceipt::kYes : WantReceipt::kNo;

    auto task = std::make_unique<Task>();
    absl::StatusOr<Plan> plan =
        MakePlan(call.program, call.types, service_.limits().max_tensor_bytes);
    if (!plan.ok()) return NameRunStream(plan.status());
    task->plan = *std::move(plan);
    GPUCALL_RETURN_IF_ERROR(NameRunStream(CheckReplySize(task->plan)));
    task->id = task_id_ = service_.scheduler().NewTaskId();
    task->inputs = std::move(call.inputs);
    task->deadline = DeadlineOf(context);
    task->done = [this, &plan = task->plan](const TaskResult& result) { Reply(plan, result); };
    return service_.scheduler().Schedule(std::move(task));
  }

  // Clients know by the words that a stream would do (client/python's _request.py).
  static absl::Status NameRunStream(const absl::Status& status) {
    if (!absl::IsResourceExhausted(status)) return status;
    return absl::ResourceExhaustedError(
        absl::StrCat(status.message(), "; RunStream takes larger ones"));
  }

  absl::Status CheckReplySize(const Plan& plan) const {
    if (plan.output_bytes <= service_.limits().max_message_bytes) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat("outputs: are ", plan.output_bytes,
                                                     " bytes together, allowed are ",
                                                     service_.limits().max_message_bytes));
  }

  void Reply(const Plan& plan, const TaskResult& result) {
    if (result.status.ok())
      *reply_ = EncodeReply(plan, result, want_receipt_, service_.device().info().id);
    Finish(ToGrpcStatus(result.status));
  }

  const ComputeService& service_;
  grpc::ByteBuffer* const reply_;
  std::vector<grpc::Slice> request_;
  WantReceipt want_receipt_ = WantReceipt::kNo;
  TaskId task_id_ = 0;
};

grpc::ServerUnaryReactor* StartCall(const ComputeService& service,
                                    const grpc::CallbackServerContext& context,
                                    const grpc::ByteBuffer& request, grpc::ByteBuffer* reply,
                                    ComputeCall::Decode decode) {
  auto* call = new ComputeCall(service, reply);  // deletes itself in OnDone
  call->Start(context, request, decode);
  return call;
}

}  // namespace

grpc::ServerUnaryReactor* ComputeService::Elementwise(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* reply) {
  return StartCall(*this, *context, *request, reply, DecodeElementwiseRequest);
}

grpc::ServerUnaryReactor* ComputeService::MatMul(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return StartCall(*this, *context, *request, reply, DecodeMatMulRequest);
}

grpc::ServerUnaryReactor* ComputeService::Filter(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return StartCall(*this, *context, *request, reply, DecodeFilterRequest);
}

grpc::ServerUnaryReactor* ComputeService::Run(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* reply) {
  return StartCall(*this, *context, *request, reply, DecodeRunRequest);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ComputeService::RunStream(
    grpc::CallbackServerContext* context) {
  return StartRunStream(*this, *context);
}

}  // namespace gpucall
