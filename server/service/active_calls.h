// Calls that go on after their work is done, since results are still being sent.
#ifndef GPUCALL_SERVER_SERVICE_ACTIVE_CALLS_H_
#define GPUCALL_SERVER_SERVICE_ACTIVE_CALLS_H_

#include "server/base/mutex.h"
#include "server/scheduler/task.h"

namespace gpucall {

// Thread-safe.
class ActiveCalls {
 public:
  void Begin() {
    MutexLock lock(mutex_);
    ++count_;
  }
  void End() {
    MutexLock lock(mutex_);
    if (--count_ == 0) none_.NotifyAll();
  }
  // Returns once there are none, or at `deadline`: false where some are left.
  bool Await(SteadyTime deadline) {
    MutexLock lock(mutex_);
    while (count_ > 0 && std::chrono::steady_clock::now() < deadline) {
      none_.WaitUntil(mutex_, deadline);
    }
    return count_ == 0;
  }

 private:
  Mutex mutex_;
  CondVar none_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_SERVICE_ACTIVE_CALLS_H_
