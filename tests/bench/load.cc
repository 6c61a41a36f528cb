#include "tests/bench/load.h"

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "absl/synchronization/blocking_counter.h"
#include "absl/time/clock.h"
#include "gpucall/v1/compute.grpc.pb.h"
#include "tests/bench/statistics.h"

namespace gpucall {
namespace {

constexpr int kReceiptEvery = 16;

absl::Status ToAbsl(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

absl::Duration OwnCpuTime() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

using Clock = std::chrono::steady_clock;
double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// What the callers of a run share.
struct Run {
  enum class Phase { kWarmUp, kMeasured, kOver };

  Run(const Method& method, int callers) : method(method), callers_left(callers) {}

  const Method& method;
  std::atomic<Phase> phase = Phase::kWarmUp;
  absl::BlockingCounter callers_left;

  std::mutex mutex;
  absl::Status failure;  // the first

  void Fail(const grpc::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (failure.ok()) failure = ToAbsl(status);
    phase = Phase::kOver;
  }
};

// Has one call in flight until the run is over.
class Caller final : public grpc::ClientUnaryReactor {
 public:
  Caller(Run& run, const std::shared_ptr<grpc::Channel>& channel) : run_(run), stub_(channel) {}

  void CallNext() {
    wants_receipt_ = run_.method.receipt_request.has_value() && calls_++ % kReceiptEvery == 0;
    const grpc::ByteBuffer& request =
        wants_receipt_ ? *run_.method.receipt_request : run_.method.request;
    reply_.Clear();
    context_.emplace();
    counts_ = run_.phase == Run::Phase::kMeasured;
    start_ = Clock::now();
    stub_.PrepareUnaryCall(&*context_, run_.method.name, {}, &request, &reply_, this);
    StartCall();
  }

  void OnDone(const grpc::Status& status) override {
    const double latency_us = MicrosecondsSince(start_);
    if (!status.ok()) run_.Fail(status);
    const Run::Phase phase = run_.phase;
    if (counts_ && phase == Run::Phase::kMeasured) {
      latencies_us.push_back(latency_us);
      if (wants_receipt_) ReadReceipt();
    }
    if (phase != Run::Phase::kOver) {
      CallNext();
    } else {
      run_.callers_left.DecrementCount();
    }
  }

  // To be read once the run is over.
  std::vector<double> latencies_us;
  int receipts = 0;
  double batches = 0;  // this caller's part of the batches that its receipts name

 private:
  void ReadReceipt() {
    v1::ComputeReply reply;
    const bool valid =
        grpc::SerializationTraits<v1::ComputeReply>::Deserialize(&reply_, &reply).ok();
    if (!valid || reply.receipt().batch_size() == 0) {
      run_.Fail(grpc::Status(grpc::StatusCode::INTERNAL, "a reply has no receipt"));
      return;
    }
    ++receipts;
    batches += 1.0 / reply.receipt().batch_size();
  }

  Run& run_;
  grpc::GenericStub stub_;
  std::optional<grpc::ClientContext> context_;
  grpc::ByteBuffer reply_;
  Clock::time_point start_;
  int calls_ = 0;
  bool wants_receipt_ = false;
  bool counts_ = false;  // the call began in the measured time
};

LoadResult Summarize(const std::vector<std::unique_ptr<Caller>>& callers, absl::Duration elapsed) {
  std::vector<double> latencies;
  int receipts = 0;
  double batches = 0;
  for (const auto& caller : callers) {
    latencies.insert(latencies.end(), caller->latencies_us.begin(), caller->latencies_us.end());
    receipts += caller->receipts;
    batches += caller->batches;
  }
  LoadResult result;
  result.calls_per_second = static_cast<double>(latencies.size()) / absl::ToDoubleSeconds(elapsed);
  result.p50_us = Quantile(latencies, 0.5);
  result.p99_us = Quantile(latencies, 0.99);
  if (receipts > 0) result.mean_batch = receipts / batches;
  return result;
}

}  // namespace

std::shared_ptr<grpc::Channel> MakeConnection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::StatusOr<LoadResult> RunLoad(const ServerProcess& server, const Method& method,
                                   const LoadOptions& options) {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < options.channels; ++i) channels.push_back(MakeConnection(server.address()));
  Run run(method, options.callers);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < options.callers; ++i) {
    callers.push_back(std::make_unique<Caller>(run, channels[i % channels.size()]));
  }
  for (const auto& caller : callers) caller->CallNext();

  absl::SleepFor(options.warm_up);
  const absl::Duration server_cpu = server.process().CpuTime(), client_cpu = OwnCpuTime();
  const absl::Time start = absl::Now();
  Run::Phase warm_up = Run::Phase::kWarmUp;  // a failure has ended it, maybe
  run.phase.compare_exchange_strong(warm_up, Run::Phase::kMeasured);
  absl::SleepFor(options.duration);
  run.phase = Run::Phase::kOver;
  const absl::Duration elapsed = absl::Now() - start;
  const absl::Duration server_cpu_end = server.process().CpuTime(), client_cpu_end = OwnCpuTime();
  run.callers_left.Wait();
  if (!run.failure.ok()) return run.failure;
  LoadResult result = Summarize(callers, elapsed);
  result.server_cpu = server_cpu_end - server_cpu;
  result.client_cpu = client_cpu_end - client_cpu;
  return result;
}

absl::StatusOr<grpc::ByteBuffer> CallOnce(const std::shared_ptr<grpc::Channel>& channel,
                                          const std::string& method,
                                          const grpc::ByteBuffer& request) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::ByteBuffer reply;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  call->Finish(&reply, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  queue.Next(&tag, &ok);
  if (!status.ok()) return ToAbsl(status);
  return reply;
}

absl::StatusOr<std::vector<double>> TimeCalls(const std::shared_ptr<grpc::Channel>& channel,
                                              const Method& method, int count) {
  std::vector<double> microseconds;
  for (int i = 0; i < count; ++i) {
    const Clock::time_point start = Clock::now();
    const absl::StatusOr<grpc::ByteBuffer> reply = CallOnce(channel, method.name, method.request);
    if (!reply.ok()) return reply.status();
    microseconds.push_back(MicrosecondsSince(start));
  }
  return microseconds;
}

}  // namespace gpucall
