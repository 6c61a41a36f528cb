#include "client/cpp/connection.h"

#include <algorithm>
#include <thread>

#include "client/cpp/channel.h"

namespace gpucall {
inline namespace client {
namespace {

thread_local bool on_callback_thread = false;

}  // namespace

Connection::Connection(std::string name, std::shared_ptr<Arena> shared,
                       const ConnectOptions& connect)
    : target(std::move(name)),
      options(connect),
      channel(MakeChannel(target, options)),
      calls(channel),
      server(channel),
      arena(std::move(shared)),
      session(channel),
      stripes_(static_cast<size_t>(std::max(options.connections, 1)) - 1) {}

std::shared_ptr<grpc::Channel> Connection::Stripe(size_t index) {
  if (index == 0) return channel;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<grpc::Channel>& stripe = stripes_[index - 1];
  if (stripe == nullptr) stripe = MakeChannel(target, options, static_cast<int>(index));
  return stripe;
}

void Connection::Delete(Connection* connection) {
  if (on_callback_thread) {
    std::thread([connection] { delete connection; }).detach();
  } else {
    delete connection;
  }
}

OnCallbackThread::OnCallbackThread() { on_callback_thread = true; }
OnCallbackThread::~OnCallbackThread() { on_callback_thread = false; }

}  // namespace client
}  // namespace gpucall
