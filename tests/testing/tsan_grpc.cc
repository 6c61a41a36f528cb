// Tells ThreadSanitizer how gRPC orders threads. The distribution's gRPC and abseil are not built
// for it, so their locks and atomics go unseen, and everything that gRPC hands from one thread to
// another looks like a race. The functions below stand before the libraries' own of the same name,
// say what is ordered, and call them. tests/CMakeLists.txt links this file where ThreadSanitizer is
// on, with suppressions that leave out the memory accesses that the libraries themselves make.
#include <dlfcn.h>
#include <grpc/grpc.h>
#include <grpc/support/sync.h>
#include <grpcpp/support/server_callback.h>

#include <cstring>

#include "absl/synchronization/mutex.h"

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

// What a thread did before it started a call's operation, or went to wait for events, comes before
// what any thread does with an event it then gets.
char events;

// The library's function behind `Function`, which is the one in this file.
template <auto Function>
auto Next() {
  static const auto next = [] {
    auto function = Function;
    void* address = nullptr;
    std::memcpy(&address, &function, sizeof(address));
    Dl_info info;
    dladdr(address, &info);
    address = dlsym(RTLD_NEXT, info.dli_sname);
    std::memcpy(&function, &address, sizeof(address));
    return function;
  }();
  return next;
}

// The counters of a call are ordered by inline code on our side and by library code on the other:
// take over what our side released, wherever in the object they are.
void AcquireCounters(grpc::internal::ServerCallbackCall* call) {
  for (size_t offset = 0; offset < sizeof(*call); offset += sizeof(int)) {
    __tsan_acquire(reinterpret_cast<char*>(call) + offset);
  }
}

// Stands for a reactor whose call is cancelled. Once OnCancel is over, library code counts it down;
// OnDone comes only after that.
class CancelledReactor final : public grpc::internal::ServerReactor {
 public:
  CancelledReactor(grpc::internal::ServerCallbackCall* call, grpc::internal::ServerReactor* reactor)
      : call_(call), reactor_(reactor) {}

  void OnCancel() override {
    reactor_->OnCancel();
    __tsan_release(call_);
    delete this;
  }
  void OnDone() override {}

 private:
  grpc::internal::ServerCallbackCall* const call_;
  grpc::internal::ServerReactor* const reactor_;
};

}  // namespace

extern "C" {

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  __tsan_release(&events);
  return Next<&grpc_call_start_batch>()(call, ops, count, tag, reserved);
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                      void* reserved) {
  __tsan_release(&events);
  const grpc_event event = Next<&grpc_completion_queue_next>()(queue, deadline, reserved);
  __tsan_acquire(&events);
  return event;
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                       gpr_timespec deadline, void* reserved) {
  const grpc_event event = Next<&grpc_completion_queue_pluck>()(queue, tag, deadline, reserved);
  __tsan_acquire(&events);
  return event;
}

void gpr_mu_lock(gpr_mu* mutex) {
  Next<&gpr_mu_lock>()(mutex);
  __tsan_acquire(mutex);
}

int gpr_mu_trylock(gpr_mu* mutex) {
  const int locked = Next<&gpr_mu_trylock>()(mutex);
  if (locked != 0) __tsan_acquire(mutex);
  return locked;
}

void gpr_mu_unlock(gpr_mu* mutex) {
  __tsan_release(mutex);
  Next<&gpr_mu_unlock>()(mutex);
}

int gpr_cv_wait(gpr_cv* condition, gpr_mu* mutex, gpr_timespec deadline) {
  __tsan_release(mutex);
  const int result = Next<&gpr_cv_wait>()(condition, mutex, deadline);
  __tsan_acquire(mutex);
  return result;
}

}  // extern "C"

void absl::Mutex::Lock() {
  (this->*Next<&absl::Mutex::Lock>())();
  __tsan_acquire(this);
}

void absl::Mutex::Unlock() {
  __tsan_release(this);
  (this->*Next<&absl::Mutex::Unlock>())();
}

namespace grpc::internal {

void ServerCallbackCall::ScheduleOnDone(bool inline_ondone) {
  AcquireCounters(this);
  (this->*Next<&ServerCallbackCall::ScheduleOnDone>())(inline_ondone);
}

void ServerCallbackCall::CallOnCancel(ServerReactor* reactor) {
  AcquireCounters(this);
  (this->*Next<&ServerCallbackCall::CallOnCancel>())(new CancelledReactor(this, reactor));
}

}  // namespace grpc::internal
