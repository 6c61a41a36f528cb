#include "server/service/compute_call.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/service/caller.h"
#include "server/service/deadline.h"
#include "server/service/encode.h"
#include "server/service/grpc_status.h"
#include "server/service/kept_outputs.h"
#include "server/service/regions.h"

namespace gpucall {
namespace {

// Holds the request until its task is done. gRPC deletes it through OnDone, which comes after the
// handler has returned and after Finish and OnCancel are over.
class ComputeCall final : public grpc::ServerUnaryReactor {
 public:
  ComputeCall(const ComputeService& service, grpc::ByteBuffer* reply)
      : service_(service), reply_(reply) {}

  void Start(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
             DecodeRequest decode) {
    const absl::Status status = Schedule(context, request, decode);
    if (!status.ok()) Finish(ToGrpcStatus(status));
  }

  void OnCancel() override { service_.scheduler().Cancel(task_id_); }
  void OnDone() override { delete this; }

 private:
  absl::Status Schedule(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                        DecodeRequest decode) {
    if (!request.Dump(&request_).ok()) {
      return absl::InvalidArgumentError("request: its bytes cannot be read");
    }
    std::string tenant = TenantOf(context);
    ResidentSources sources(service_.store(), service_.segments(), tenant);
    GPUCALL_ASSIGN_OR_RETURN(DecodedCall call, decode(request_, sources));
    want_receipt_ = call.want_receipt ? WantReceipt::kYes : WantReceipt::kNo;
    GPUCALL_ASSIGN_OR_RETURN(const Caller caller, CallerOf(std::move(tenant), call.session));

    auto task = std::make_unique<Task>();
    GPUCALL_ASSIGN_OR_RETURN(task->plan, PlanOf(call));
    task->id = task_id_ = service_.scheduler().NewTaskId();
    task->inputs = std::move(call.inputs);
    task->keep_outputs = std::move(call.keep_outputs);
    task->targets = placed_.targets;
    task->deadline = DeadlineOf(context);
    GPUCALL_RETURN_IF_ERROR(kept_.Reserve(service_.store(), caller, *task));
    task->done = [this, &plan = task->plan](const TaskResult& result) { Reply(plan, result); };
    return service_.scheduler().Schedule(std::move(task));
  }

  // What is sent inline is held to the limits of messages, other tensors are not.
  absl::StatusOr<Plan> PlanOf(const DecodedCall& call) {
    const ComputeLimits& limits = service_.limits();
    bool has_others = !call.keep_outputs.empty() || call.output_area.has_value();
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Storage& input = call.inputs[i];
      const bool is_shared = input.host.is_owned();
      has_others |= input.resident != nullptr || is_shared;
      if (is_shared) continue;
      GPUCALL_RETURN_IF_ERROR(CheckInline("input ", i, input.host.size_bytes()));
    }
    absl::StatusOr<Plan> made = MakePlan(
        call.program, call.types, has_others ? limits.max_streamed_bytes : limits.max_tensor_bytes);
    if (!made.ok()) return has_others ? made.status() : NameRunStream(made.status());
    Plan plan = *std::move(made);
    if (call.output_area) {
      GPUCALL_ASSIGN_OR_RETURN(
          placed_, PlaceOutputs(service_.segments(), *call.output_area, plan, call.keep_outputs));
    }
    int64_t reply_bytes = 0;
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      if ((i < call.keep_outputs.size() && call.keep_outputs[i]) || placed_.has(i)) continue;
      const int64_t size_bytes = plan.values[plan.outputs[i]].size_bytes();
      GPUCALL_RETURN_IF_ERROR(CheckInline("output ", i, size_bytes));
      reply_bytes += size_bytes;
    }
    if (reply_bytes <= limits.max_message_bytes) return plan;
    return NameRunStream(absl::ResourceExhaustedError(absl::StrCat(
        "outputs: are ", reply_bytes, " bytes together, allowed are ", limits.max_message_bytes)));
  }

  // Clients know by the words that a stream would do (client/python's _request.py).
  static absl::Status NameRunStream(const absl::Status& status) {
    if (!absl::IsResourceExhausted(status)) return status;
    return absl::ResourceExhaustedError(
        absl::StrCat(status.message(), "; RunStream takes larger ones"));
  }

  absl::Status CheckInline(absl::string_view what, size_t index, int64_t size_bytes) const {
    const int64_t allowed = service_.limits().max_tensor_bytes;
    if (size_bytes <= allowed) return absl::OkStatus();
    return NameRunStream(absl::ResourceExhaustedError(
        absl::StrCat(what, index, ": is ", size_bytes, " bytes, allowed are ", allowed)));
  }

  void Reply(const Plan& plan, const TaskResult& result) {
    if (!result.status.ok()) return Finish(ToGrpcStatus(result.status));
    const auto handles = kept_.Keep(service_.store(), plan, result);
    if (handles.ok()) {
      *reply_ =
          EncodeReply(plan, result, *handles, placed_, want_receipt_, service_.device().info().id);
    }
    Finish(ToGrpcStatus(handles.status()));
  }

  const ComputeService& service_;
  grpc::ByteBuffer* const reply_;
  std::vector<grpc::Slice> request_;
  WantReceipt want_receipt_ = WantReceipt::kNo;
  TaskId task_id_ = 0;
  KeptOutputs kept_;
  PlacedOutputs placed_;
};

}  // namespace

grpc::ServerUnaryReactor* StartComputeCall(const ComputeService& service,
                                           const grpc::CallbackServerContext& context,
                                           const grpc::ByteBuffer& request, grpc::ByteBuffer* reply,
                                           DecodeRequest decode) {
  auto* call = new ComputeCall(service, reply);  // deletes itself in OnDone
  call->Start(context, request, decode);
  return call;
}

}  // namespace gpucall
