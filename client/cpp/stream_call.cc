#include "client/cpp/stream_call.h"

#include <grpcpp/support/client_callback.h>

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "client/cpp/channel.h"
#include "client/cpp/stream_messages.h"
#include "client/cpp/stream_results.h"

namespace gpucall {
inline namespace client {
namespace {

// Tells the caller how far the call is. Thread-safe: sending and receiving go on at once.
class Progress {
 public:
  Progress(std::function<void(int64_t, int64_t)> report, int64_t input_bytes)
      : report_(std::move(report)), input_bytes_(input_bytes) {}

  void Sent(int64_t bytes) {
    if (report_ == nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    sent_ = bytes;
    Report();
  }
  void Received(const StreamResults& results) {
    if (report_ == nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    received_ = results.bytes_received();
    output_bytes_ = results.bytes_in_all();
    Report();
  }

 private:
  void Report() const { report_(sent_ + received_, input_bytes_ + output_bytes_); }

  const std::function<void(int64_t, int64_t)> report_;
  const int64_t input_bytes_;
  std::mutex mutex_;
  int64_t sent_ = 0, received_ = 0, output_bytes_ = 0;
};

// Deletes itself when the call is over.
class StreamCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StreamCall(std::shared_ptr<Connection> connection, std::shared_ptr<const EncodedRequest> request,
             const CallOptions& options, absl::Time deadline, Client::Callback callback)
      : connection_(std::move(connection)),
        context_(deadline, options.stop),
        progress_(options.progress, request->InputBytes()),
        messages_(std::move(request),
                  {.receipt = options.receipt != nullptr ? WantReceipt::kYes : WantReceipt::kNo,
                   .checksums = options.checksums ? Checksums::kYes : Checksums::kNo}),
        receipt_(options.receipt),
        callback_(std::move(callback)) {}

  void Begin() {
    connection_->calls.PrepareBidiStreamingCall(context_.get(), "/gpucall.v1.Compute/RunStream", {},
                                                this);
    StartRead(&received_);
    WriteNext();
    StartCall();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return;  // the call is over, and OnDone will say why
    progress_.Sent(messages_.bytes_given());
    WriteNext();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    fault_ = results_.Receive(received_);
    received_.Clear();
    if (!fault_.ok()) return context_.get()->TryCancel();
    progress_.Received(results_);
    StartRead(&received_);
  }

  void OnDone(const grpc::Status& status) override {
    const OnCallbackThread here;
    Client::Reply reply = Result(status);
    Client::Callback callback = std::move(callback_);
    delete this;  // first: whoever waits for the callback may then destroy the Client
    callback(std::move(reply));
  }

 private:
  void WriteNext() {
    std::optional<grpc::ByteBuffer> message = messages_.Next();
    if (!message) return StartWritesDone();
    sent_ = *std::move(message);
    StartWrite(&sent_);
  }

  Client::Reply Result(const grpc::Status& status) {
    if (!fault_.ok()) return fault_;
    if (!status.ok()) return ToAbsl(status);
    return results_.Finish(receipt_);
  }

  const std::shared_ptr<Connection> connection_;  // first: outlives the channel's use in context_
  CallContext context_;
  Progress progress_;
  StreamMessages messages_;
  StreamResults results_;
  grpc::ByteBuffer sent_, received_;  // in flight
  absl::Status fault_;                // of what was received
  Receipt* const receipt_;
  Client::Callback callback_;
};

}  // namespace

void StartStream(std::shared_ptr<Connection> connection,
                 std::shared_ptr<const EncodedRequest> request, const CallOptions& options,
                 absl::Time deadline, Client::Callback callback) {
  // Deletes itself.
  (new StreamCall(std::move(connection), std::move(request), options, deadline,
                  std::move(callback)))
      ->Begin();
}

}  // namespace client
}  // namespace gpucall
