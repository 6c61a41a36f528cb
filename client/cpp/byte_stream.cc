#include "client/cpp/byte_stream.h"

#include <chrono>
#include <thread>
#include <utility>

#include "client/cpp/channel.h"

namespace gpucall {
inline namespace client {

void AwaitRelease(const Owner& owner, long holders, grpc::CompletionQueue& queue) {
  constexpr int kSpins = 100;
  for (int i = 0; owner.use_count() > holders; ++i) {
    const auto wait = std::chrono::milliseconds(i < kSpins ? 0 : 1);
    void* tag = nullptr;
    bool ok = false;
    queue.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + wait);
    std::this_thread::yield();
  }
}

ByteStream::ByteStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                       absl::Time deadline, std::stop_token stop)
    : context_(std::make_unique<CallContext>(deadline, std::move(stop))),
      call_(grpc::GenericStub(channel).PrepareCall(context_->get(), method, &queue_)) {
  call_->StartCall(this);
  Wait();  // where it failed, so do the operations that follow
}

ByteStream::~ByteStream() {
  if (!is_finished_) {
    context_->get()->TryCancel();
    static_cast<void>(Finish());
  }
  call_.reset();
  context_.reset();
  AwaitRelease(owner_, 1, queue_);
  queue_.Shutdown();
  Wait();
}

bool ByteStream::Write(const grpc::ByteBuffer& message) {
  call_->Write(message, this);
  return Wait();
}

bool ByteStream::WritesDone() {
  call_->WritesDone(this);
  return Wait();
}

bool ByteStream::Read(grpc::ByteBuffer& message) {
  call_->Read(&message, this);
  return Wait();
}

absl::Status ByteStream::Finish() {
  grpc::Status status;
  call_->Finish(&status, this);
  Wait();
  is_finished_ = true;
  return ToAbsl(status);
}

bool ByteStream::Wait() {
  void* tag = nullptr;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

}  // namespace client
}  // namespace gpucall
