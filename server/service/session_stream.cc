#include <atomic>
#include <chrono>
#include <string>

#include "server/base/status_macros.h"
#include "server/service/caller.h"
#include "server/service/grpc_status.h"
#include "server/service/tensor_streams.h"

namespace gpucall {
namespace {

// Says which session it is, and then stays until the caller goes.
class SessionStream final : public grpc::ServerWriteReactor<v1::Session> {
 public:
  SessionStream(TensorStore& store, std::string tenant)
      : store_(store), tenant_(std::move(tenant)) {}

  void Start(const v1::OpenSessionRequest& request) {
    const absl::Status status = Open(request.resume());
    if (!status.ok()) return End(ToGrpcStatus(status));
    is_open_ = true;
    reply_.set_id(session_.bytes());
    reply_.set_grace_seconds(static_cast<uint32_t>(store_.limits().session_grace.count()));
    StartWrite(&reply_);
  }

  void OnCancel() override { End(grpc::Status(grpc::CANCELLED, "the session's call has ended")); }
  void OnDone() override {
    if (is_open_) store_.LoseStream(tenant_, session_, std::chrono::steady_clock::now());
    delete this;
  }

 private:
  absl::Status Open(const std::string& resume) {
    if (resume.empty()) {
      session_ = store_.OpenSession(tenant_);
      return absl::OkStatus();
    }
    GPUCALL_ASSIGN_OR_RETURN(session_, Handle::FromBytes("resume", resume));
    return store_.ResumeSession(tenant_, session_);
  }

  // Once; a refused caller may leave as well.
  void End(const grpc::Status& status) {
    if (!ended_.exchange(true)) Finish(status);
  }

  TensorStore& store_;
  const std::string tenant_;
  Handle session_;
  bool is_open_ = false;
  std::atomic<bool> ended_ = false;
  v1::Session reply_;
};

}  // namespace

grpc::ServerWriteReactor<v1::Session>* StartSession(const ComputeService& service,
                                                    const grpc::CallbackServerContext& context,
                                                    const v1::OpenSessionRequest& request) {
  auto* stream = new SessionStream(service.store(), TenantOf(context));  // deletes itself in OnDone
  stream->Start(request);
  return stream;
}

}  // namespace gpucall
