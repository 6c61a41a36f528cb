// Threads that help with large copies in host memory, of which one core does about 10 GB/s.
#ifndef GPUCALL_SERVER_DEVICE_COPY_THREADS_H_
#define GPUCALL_SERVER_DEVICE_COPY_THREADS_H_

#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"

namespace gpucall {

// Thread-safe: callers whose work comes while the threads are busy do it themselves.
class CopyThreads {
 public:
  explicit CopyThreads(int count);
  ~CopyThreads();

  // Calls part(0) ... part(count - 1), each once, here and on the threads, and returns when all
  // have returned.
  void Run(int count, absl::FunctionRef<void(int)> part);

 private:
  // The parts of one Run.
  struct Job {
    absl::FunctionRef<void(int)> part;
    int count;
    int next = 0;
    int unfinished = count;
  };

  void Work();
  // Takes and runs one part. REQUIRES: there is one.
  void RunPart(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  CondVar work_, done_;
  Job* job_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gpucall

#endif  // GPUCALL_SERVER_DEVICE_COPY_THREADS_H_
