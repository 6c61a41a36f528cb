#include "tests/bench/transfer.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/client_callback.h>
#include <sys/resource.h>

#include <future>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/echo_server.h"
#include "tests/bench/load.h"

namespace gpucall {
namespace {

constexpr size_t kMessageBytes = 1 << 20;

grpc::ByteBuffer Refer(absl::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size(), grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(&slice, 1);
}

absl::Duration OwnCpuTime() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

absl::Status WrongSize(size_t got, size_t right) {
  return absl::InternalError(absl::StrCat("echo of ", right, " bytes has ", got));
}

class EchoStreamCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  EchoStreamCall(const std::shared_ptr<grpc::Channel>& channel, absl::string_view bytes)
      : stub_(channel), size_bytes_(bytes.size()), left_(bytes) {}

  // Blocks.
  absl::Status Run() {
    stub_.PrepareBidiStreamingCall(&context_, kEchoStreamMethod, {}, this);
    StartRead(&received_);
    Write();
    StartCall();
    const grpc::Status status = over_.get_future().get();
    if (!status.ok()) {
      return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                          status.error_message());
    }
    return bytes_back_ == size_bytes_ ? absl::OkStatus() : WrongSize(bytes_back_, size_bytes_);
  }

  void OnWriteDone(bool ok) override {
    if (ok) Write();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    bytes_back_ += received_.Length();
    StartRead(&received_);
  }
  void OnDone(const grpc::Status& status) override { over_.set_value(status); }

 private:
  void Write() {
    if (left_.empty()) return StartWritesDone();
    sent_ = Refer(left_.substr(0, kMessageBytes));
    left_.remove_prefix(sent_.Length());
    StartWrite(&sent_);
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  const size_t size_bytes_;
  absl::string_view left_;
  grpc::ByteBuffer sent_, received_;
  size_t bytes_back_ = 0;
  std::promise<grpc::Status> over_;
};

}  // namespace

absl::Status Transfer::Measure(const ServerProcess& server,
                               const std::function<absl::Status()>& call, int64_t size_bytes,
                               absl::Duration duration) {
  if (absl::Status status = call(); !status.ok()) return status;
  const absl::Duration cpu = server.process().CpuTime();
  const absl::Duration client_cpu = OwnCpuTime();
  const absl::Time begin = absl::Now();
  int64_t bytes = 0;
  absl::Duration elapsed;
  do {
    if (absl::Status status = call(); !status.ok()) return status;
    bytes += size_bytes;
    elapsed = absl::Now() - begin;
  } while (elapsed < duration);
  const double gigabytes = static_cast<double>(bytes) / 1e9;
  megabytes_per_second.push_back(1000 * gigabytes / absl::ToDoubleSeconds(elapsed));
  server_cpu_ms_per_gb.push_back(absl::ToDoubleMilliseconds(server.process().CpuTime() - cpu) /
                                 gigabytes);
  client_cpu_ms_per_gb.push_back(absl::ToDoubleMilliseconds(OwnCpuTime() - client_cpu) / gigabytes);
  return absl::OkStatus();
}

absl::Status EchoUnary(const std::shared_ptr<grpc::Channel>& channel, absl::string_view bytes) {
  const absl::StatusOr<grpc::ByteBuffer> reply = CallOnce(channel, kEchoMethod, Refer(bytes));
  if (!reply.ok()) return reply.status();
  return reply->Length() == bytes.size() ? absl::OkStatus()
                                         : WrongSize(reply->Length(), bytes.size());
}

absl::Status EchoStreamed(const std::shared_ptr<grpc::Channel>& channel, absl::string_view bytes) {
  return EchoStreamCall(channel, bytes).Run();
}

}  // namespace gpucall
