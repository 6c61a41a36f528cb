// Tells ThreadSanitizer how gRPC orders threads. The distribution's gRPC is not built for it, so
// its locks and atomics go unseen and everything that gRPC hands from one thread to another looks
// like a race. The functions below stand before gRPC's own of the same name, say what is ordered,
// and call them. tests/CMakeLists.txt links this file where ThreadSanitizer is on, with
// suppressions that leave out the memory accesses that the libraries themselves make.
#include <dlfcn.h>
#include <grpc/grpc.h>
#include <grpc/support/sync.h>
#include <grpcpp/support/server_callback.h>

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

// What a thread did before it started a call's operation, or went to wait for events, comes before
// what any thread does with an event it then gets.
char events;

// The function that would have been called.
template <typename FunctionT>
FunctionT* Next(FunctionT*, const char* symbol) {
  return reinterpret_cast<FunctionT*>(dlsym(RTLD_NEXT, symbol));
}

// The counters of a call are ordered by inline code on our side and by library code on the other:
// take over what our side released, wherever in the object they are.
void AcquireCounters(grpc::internal::ServerCallbackCall* call) {
  for (size_t offset = 0; offset < sizeof(*call); offset += sizeof(int)) {
    __tsan_acquire(reinterpret_cast<char*>(call) + offset);
  }
}

}  // namespace

extern "C" {

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  static auto* const next = Next(&grpc_call_start_batch, "grpc_call_start_batch");
  __tsan_release(&events);
  return next(call, ops, count, tag, reserved);
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                      void* reserved) {
  static auto* const next = Next(&grpc_completion_queue_next, "grpc_completion_queue_next");
  __tsan_release(&events);
  const grpc_event event = next(queue, deadline, reserved);
  __tsan_acquire(&events);
  return event;
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                       gpr_timespec deadline, void* reserved) {
  static auto* const next = Next(&grpc_completion_queue_pluck, "grpc_completion_queue_pluck");
  const grpc_event event = next(queue, tag, deadline, reserved);
  __tsan_acquire(&events);
  return event;
}

void gpr_mu_lock(gpr_mu* mutex) {
  static auto* const next = Next(&gpr_mu_lock, "gpr_mu_lock");
  next(mutex);
  __tsan_acquire(mutex);
}

int gpr_mu_trylock(gpr_mu* mutex) {
  static auto* const next = Next(&gpr_mu_trylock, "gpr_mu_trylock");
  const int locked = next(mutex);
  if (locked != 0) __tsan_acquire(mutex);
  return locked;
}

void gpr_mu_unlock(gpr_mu* mutex) {
  static auto* const next = Next(&gpr_mu_unlock, "gpr_mu_unlock");
  __tsan_release(mutex);
  next(mutex);
}

int gpr_cv_wait(gpr_cv* condition, gpr_mu* mutex, gpr_timespec deadline) {
  static auto* const next = Next(&gpr_cv_wait, "gpr_cv_wait");
  __tsan_release(mutex);
  const int result = next(condition, mutex, deadline);
  __tsan_acquire(mutex);
  return result;
}

}  // extern "C"

namespace grpc::internal {

void ServerCallbackCall::ScheduleOnDone(bool inline_ondone) {
  static const auto next = reinterpret_cast<void (*)(ServerCallbackCall*, bool)>(
      dlsym(RTLD_NEXT, "_ZN4grpc8internal18ServerCallbackCall14ScheduleOnDoneEb"));
  AcquireCounters(this);
  next(this, inline_ondone);
}

void ServerCallbackCall::CallOnCancel(ServerReactor* reactor) {
  static const auto next = reinterpret_cast<void (*)(ServerCallbackCall*, ServerReactor*)>(dlsym(
      RTLD_NEXT, "_ZN4grpc8internal18ServerCallbackCall12CallOnCancelEPNS0_13ServerReactorE"));
  AcquireCounters(this);
  next(this, reactor);
}

}  // namespace grpc::internal
