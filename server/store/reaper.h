// Ends what has expired.
#ifndef GPUCALL_SERVER_STORE_REAPER_H_
#define GPUCALL_SERVER_STORE_REAPER_H_

#include <malloc.h>

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "server/base/mutex.h"
#include "server/store/tensor_store.h"

namespace gpucall {

// A thread that calls TensorStore::Reap, and `also`, every kPeriod, and gives the memory of lost
// callers back to the system, which glibc would keep (process_tuning.h). `store` must outlive it.
class Reaper {
 public:
  static constexpr std::chrono::milliseconds kPeriod{250};

  explicit Reaper(
      TensorStore& store, std::function<void()> also = [] {})
      : also_(std::move(also)), thread_([this, &store] { Run(store); }) {}
  ~Reaper() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      stop_.NotifyAll();
    }
    thread_.join();
  }

 private:
  void Run(TensorStore& store) {
    while (true) {
      const auto now = std::chrono::steady_clock::now();
      if (store.Reap(now) > 0) malloc_trim(0);
      also_();
      MutexLock lock(mutex_);
      while (!stopping_ && std::chrono::steady_clock::now() < now + kPeriod) {
        stop_.WaitUntil(mutex_, now + kPeriod);
      }
      if (stopping_) return;
    }
  }

  const std::function<void()> also_;
  Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_STORE_REAPER_H_
