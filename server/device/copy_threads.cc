#include "server/device/copy_threads.h"

namespace gpucall {

CopyThreads::CopyThreads(int count) {
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { Work(); });
}

CopyThreads::~CopyThreads() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void CopyThreads::Run(int count, absl::FunctionRef<void(int)> part) {
  Job job{.part = part, .count = count};
  MutexLock lock(mutex_);
  const bool shared = job_ == nullptr && count > 1;
  if (shared) {
    job_ = &job;
    work_.NotifyAll();
  }
  while (job.next < job.count) RunPart(job);
  if (shared) job_ = nullptr;
  while (job.unfinished > 0) done_.Wait(mutex_);
}

void CopyThreads::RunPart(Job& job) {
  const int index = job.next++;
  mutex_.Unlock();
  job.part(index);
  mutex_.Lock();
  if (--job.unfinished == 0) done_.NotifyAll();
}

void CopyThreads::Work() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (job_ == nullptr || job_->next == job_->count) {
      work_.Wait(mutex_);
    } else {
      RunPart(*job_);
    }
  }
}

}  // namespace gpucall
