#include "client/cpp/connection.h"

#include <thread>

namespace gpucall {
inline namespace client {
namespace {

thread_local bool on_callback_thread = false;

}  // namespace

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
