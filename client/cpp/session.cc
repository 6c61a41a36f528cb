#include "client/cpp/session.h"

#include <chrono>

#include "client/cpp/channel.h"

namespace gpucall {
inline namespace client {

Session::~Session() {
  if (stream_ == nullptr) return;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
  v1::EndSessionRequest request;
  request.set_session(stream_->id);
  v1::EndSessionReply reply;
  // Where it fails the tensors go with the connection.
  static_cast<void>(tensors_.EndSession(&context, request, &reply));
  Close(*stream_);
}

void Session::Close(Stream& stream) {
  stream.context.TryCancel();
  static_cast<void>(stream.reader->Finish());
}

absl::StatusOr<std::string> Session::id() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stream_ != nullptr) return stream_->id;
  auto stream = std::make_unique<Stream>();
  stream->reader = tensors_.OpenSession(&stream->context, {});
  v1::Session session;
  if (!stream->reader->Read(&session)) return ToAbsl(stream->reader->Finish());
  stream->id = session.id();
  stream_ = std::move(stream);
  return stream_->id;
}

void Session::Forget(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stream_ == nullptr || stream_->id != id) return;
  Close(*stream_);
  stream_.reset();
}

}  // namespace client
}  // namespace gpucall
